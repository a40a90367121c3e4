#include "thrust/transform.h"
