#include "data_options.h"

namespace rlc {

void DataOptions::Declare(CLI::App& app) {
  app.add_option("--data", request.path,
                 "samples: .npz with arrays named as the inputs (and labels), .npy, a folder of arrays or of images");
  app.add_option("--preprocess", request.preprocess,
                 "for images: resize=256,crop=224,mean=0.485:0.456:0.406,std=0.229:0.224:0.225,layout=nchw,order=rgb");
  shapes.Declare(app);
}

Expected<DataRequest> DataOptions::Parse(uint64_t seed) const {
  DataRequest parsed = request;
  RLC_ASSIGN_OR_RETURN(parsed.shapes, shapes.Parse());
  parsed.splits.seed = seed;
  return parsed;
}

}  // namespace rlc
