// Programs that have their own command lines. The build renames their main().
#include "experiments/sweeps/programs.h"

int activity_map_main(int argc, char** argv);
int course_program_main(int argc, char** argv);

static const nbody::sweep::Program activity_map("activity_map", activity_map_main);
static const nbody::sweep::Program course_program("course_program", course_program_main);
