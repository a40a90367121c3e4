#include "thrust/find.h"
