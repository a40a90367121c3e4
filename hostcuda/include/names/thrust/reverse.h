#include "thrust/remove.h"
