#include "run/revision.h"

#include "generated_revision.h"

namespace nbody {

const char* revision() { return NBODY_REVISION; }

}  // namespace nbody
