// What is in a model, in numbers: the tables of rlc inspect and rlc simplify.
#ifndef RLC_OPTIMIZE_SUMMARY_H_
#define RLC_OPTIMIZE_SUMMARY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rlc/base/json.h"
#include "rlc/ir/model.h"

namespace rlc {

struct ModelSummary {
  std::map<std::string, int> ops;  // "Conv", "com.example::Foo": nodes of the graph and of all bodies
  int nodes = 0;                   // all of them
  int64_t parameters = 0;          // elements of constants that are not shape arithmetic (float and quantized types)
  int64_t constant_bytes = 0;      // bytes of all constants, shared ones once
  int64_t macs = -1;  // multiply-accumulates of all layers for the static shapes; -1: some shape is not static
  int layers = 0;
  int64_t ir_version = 0;
  int opset = 0;
};

ModelSummary Summarize(const Model& model);

Json ToJson(const ModelSummary& summary);

// A table of text: first column left-aligned, the others right-aligned; a rule under the first row.
std::string FormatTable(const std::vector<std::vector<std::string>>& rows);

// Ops of both models with their counts, then nodes, parameters, bytes and multiply-accumulates.
std::string CompareTable(const ModelSummary& before, const ModelSummary& after);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_SUMMARY_H_
