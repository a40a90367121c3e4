#include "thrust/pair.h"
