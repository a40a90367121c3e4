#include "thrust/system_error.h"
