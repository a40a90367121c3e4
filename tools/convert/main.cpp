// nbody-convert IN OUT: converts files of bodies to another format or system of units.
#include <iostream>
#include <map>

#include "change.h"
#include "io/gadget_hdf5/gadget.h"
#include "io/units.h"
#include "nbody/error.h"
#include "run/command_line.h"
#include "run/program.h"
#include "summary.h"

namespace nbody::convert {
namespace {

using Formats = std::map<std::string, const FileFormat*>;
Formats formats_with(bool (*wanted)(const FileFormat&)) {
  Formats formats;
  for (const FileFormat& format : formats_with_gadget())
    if (wanted(format)) formats[std::string(format.name)] = &format;
  return formats;
}

struct Arguments {
  std::string in, out, columns, units, from_units;
  const FileFormat *from = nullptr, *to = nullptr;
  std::vector<Species> species;
  bool centre = false;
};

// Returns nothing after --help or --version.
std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  CommandLine line("nbody-convert", "Converts files of bodies between formats and units.");
  line.word("IN", arguments.in, "file of bodies; its format is recognised from its content");
  line.word("OUT", arguments.out,
            "file to write; its extension selects the format: .csv .bin .raw .tipsy .hdf5");
  line.choice("--from", arguments.from,
              formats_with([](const FileFormat& format) { return format.read != nullptr; }),
              "format of IN, instead of the recognised one");
  line.choice("--to", arguments.to,
              formats_with([](const FileFormat& format) { return format.write != nullptr; }),
              "format of OUT, instead of the one that its extension selects");
  line.text("--columns", arguments.columns,
            "columns of a table without a header line: m,x,y,z,vx,vy,vz; - skips a column");
  const auto preset = [&](const std::string& option, std::string& target, const std::string& help) {
    line.option(option, "PRESET", help + ": " + unit_presets(),
                [option, &target](const std::string& text) {
                  require_preset(option, text);
                  target = text;
                });
  };
  preset("--units", arguments.units, "convert to these units");
  preset("--from-units", arguments.from_units, "units of IN, if the file does not give them");
  line.species("--species", arguments.species,
               "bodies to keep: gas,dark,disk,bulge,star,boundary [all]");
  line.flag("--centre", arguments.centre,
            "move the centre of mass to the origin, and set its velocity to zero");
  if (!line.parse(argc, argv)) return std::nullopt;
  return arguments;
}

void set_units(const Arguments& arguments, Snapshot& snapshot) {
  if (arguments.from_units.empty()) {
    require_units_of_tipsy(arguments.in, snapshot, "--from-units");
  } else {
    if (units_of(snapshot.units))
      throw UsageError("--from-units: \"" + arguments.from_units + "\" is not allowed; " +
                       arguments.in + " says that its units are " + snapshot.units);
    snapshot.units = arguments.from_units;
  }
  if (!arguments.units.empty()) convert_units(arguments.in, snapshot, arguments.units);
}

void run(const Arguments& arguments) {
  const FileFormat to = arguments.to != nullptr
                            ? *arguments.to
                            : format_for_writing(arguments.out, formats_with_gadget());
  Snapshot snapshot = read_bodies(arguments.in, {.float64 = true,
                                                 .species = arguments.species,
                                                 .columns = arguments.columns,
                                                 .format = arguments.from,
                                                 .formats = formats_with_gadget()});
  // The files that were read must not be overwritten: OUT must be neither IN nor the .param file
  // with the units of IN.
  std::vector<NamedFile> in;
  for (const auto& file : snapshot.sources) in.push_back({"IN", file});
  const Outputs outputs(files_written("OUT", arguments.out, to), in);
  drop_needless_float64(snapshot);
  std::string report = "read " + arguments.in + ": " + snapshot.format + "\n" + summary(snapshot);

  set_units(arguments, snapshot);
  if (arguments.centre) move_to_centre(snapshot);
  const bool changed =
      arguments.centre || !arguments.units.empty() || !arguments.from_units.empty();
  std::vector<std::string> lost = what_is_lost(snapshot, to);
  // A checkpoint whose bodies have changed cannot continue the interrupted run.
  if ((changed || !arguments.species.empty()) && !snapshot.checkpoint.empty()) {
    snapshot.checkpoint.clear();
    lost.push_back("the checkpoint data that --resume needs");
  }
  write_bodies(arguments.out, snapshot, to);

  report += "wrote " + arguments.out + ": " + std::string(to.title) + "\n";
  if (changed) {
    snapshot.left_out.clear();  // already reported
    report += summary(snapshot);
  }
  const std::string_view note = snapshot.caution.empty() ? to.softening : snapshot.caution;
  if (snapshot.softening > 0 && !note.empty())
    report += "  note         " + std::string(note) + "\n";
  for (const std::string& what : lost) report += "  lost         " + what + "\n";
  (arguments.out == "/dev/stdout" ? std::cerr : std::cout) << report;
}

}  // namespace
}  // namespace nbody::convert

int main(int argc, char** argv) {
  return nbody::run_program("nbody-convert", [&] {
    if (const auto arguments = nbody::convert::parse(argc, argv)) nbody::convert::run(*arguments);
    return nbody::kSuccess;
  });
}
