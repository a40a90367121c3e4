#include "thrust/detail/vector.h"
