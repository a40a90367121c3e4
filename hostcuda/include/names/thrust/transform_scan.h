#include "thrust/scan.h"
