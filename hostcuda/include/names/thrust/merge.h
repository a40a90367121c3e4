#include "thrust/sort.h"
