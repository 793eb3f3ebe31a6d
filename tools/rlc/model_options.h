// Options about models and data that several subcommands share.
#ifndef RLC_TOOLS_RLC_MODEL_OPTIONS_H_
#define RLC_TOOLS_RLC_MODEL_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/base/format.h"

namespace rlc {

// --shape NAME:1,3,224,224, and other flags that take the same.
struct ShapeOptions {
  std::string flag = "--shape";
  std::vector<std::string> texts;

  void Declare(CLI::App& app,
               const std::string& help = "shape to run with, for an input with free dimensions: NAME:1,3,224,224") {
    app.add_option(flag, texts, help);
  }

  // By input name. Error, kUsage: the text that cannot be read.
  Expected<std::map<std::string, std::vector<int64_t>>> Parse() const;
};

}  // namespace rlc

#endif  // RLC_TOOLS_RLC_MODEL_OPTIONS_H_
