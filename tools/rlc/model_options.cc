#include "model_options.h"

namespace rlc {

Expected<std::map<std::string, std::vector<int64_t>>> ShapeOptions::Parse() const {
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const std::string& text : texts) {
    const size_t colon = text.rfind(':');  // names may hold colons, sizes cannot
    if (colon == std::string::npos || colon == 0) {
      return MakeError(ErrorKind::kUsage, "{} '{}': wanted NAME:D0,D1,..., for example input:1,3,224,224", flag, text);
    }
    std::vector<int64_t> dims;
    for (const std::string& part : SplitText(text.substr(colon + 1), ',')) {
      RLC_ASSIGN_OR_RETURN(const int64_t dim, ParseInt(part, flag));
      if (dim < 1) return MakeError(ErrorKind::kUsage, "{} '{}': dimension {} is not positive", flag, text, dim);
      dims.push_back(dim);
    }
    if (!shapes.emplace(text.substr(0, colon), std::move(dims)).second) {
      return MakeError(ErrorKind::kUsage, "{}: '{}' is given twice", flag, text.substr(0, colon));
    }
  }
  return shapes;
}

}  // namespace rlc
