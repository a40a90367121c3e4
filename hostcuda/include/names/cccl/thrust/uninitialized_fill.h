#include "thrust/fill.h"
