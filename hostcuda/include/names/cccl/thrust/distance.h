#include "thrust/detail/iterator.h"
