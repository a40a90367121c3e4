#include "thrust/pair.h"
#include "thrust/transform.h"
