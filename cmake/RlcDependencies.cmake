# Outside libraries. From the distribution where it has them; onnx and ONNX Runtime where scripts/setup put them.
# Every imported target counts as a system library: its headers give no warnings. The names for rlc_layer:
#   fmt::fmt tl::expected nlohmann_json::nlohmann_json CLI11::CLI11 Threads::Threads Eigen3::Eigen hwy::hwy DNNL::dnnl
#   SQLite::SQLite3 JPEG::JPEG PNG::PNG rlc::stb rlc::onnx rlc::onnxruntime rlc::torch benchmark::benchmark

set(RLC_DEPS "${CMAKE_SOURCE_DIR}/.deps" CACHE PATH "where scripts/setup put onnx and ONNX Runtime")
set(THREADS_PREFER_PTHREAD_FLAG ON)

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tl-expected REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(Eigen3 REQUIRED)
find_package(hwy REQUIRED)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
if(RLC_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
endif()
if(RLC_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()

# oneDNN's own configuration insists on an OpenCL that its CPU library does not need.
find_path(RLC_DNNL_INCLUDE oneapi/dnnl/dnnl.hpp REQUIRED)
find_library(RLC_DNNL_LIBRARY dnnl REQUIRED)
add_library(DNNL::dnnl UNKNOWN IMPORTED)
set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION "${RLC_DNNL_LIBRARY}")
target_include_directories(DNNL::dnnl SYSTEM INTERFACE "${RLC_DNNL_INCLUDE}")

# Header-only.
find_path(RLC_STB_INCLUDE stb_image.h PATH_SUFFIXES stb REQUIRED)
add_library(rlc::stb INTERFACE IMPORTED)
target_include_directories(rlc::stb SYSTEM INTERFACE "${RLC_STB_INCLUDE}")

# onnx: static, built by scripts/setup. Users need the definitions that it was built with.
find_package(Protobuf REQUIRED)
find_library(RLC_ONNX_LIBRARY onnx PATHS "${RLC_DEPS}/onnx/lib" NO_DEFAULT_PATH)
find_library(RLC_ONNX_PROTO_LIBRARY onnx_proto PATHS "${RLC_DEPS}/onnx/lib" NO_DEFAULT_PATH)
find_path(RLC_ONNX_INCLUDE onnx/onnx_pb.h PATHS "${RLC_DEPS}/onnx/include" NO_DEFAULT_PATH)
add_library(rlc::onnx INTERFACE IMPORTED)
if(RLC_ONNX_LIBRARY AND RLC_ONNX_PROTO_LIBRARY AND RLC_ONNX_INCLUDE)
  target_include_directories(rlc::onnx SYSTEM INTERFACE "${RLC_ONNX_INCLUDE}")
  target_compile_definitions(rlc::onnx INTERFACE ONNX_ML=1 ONNX_NAMESPACE=onnx)
  target_link_libraries(rlc::onnx INTERFACE "${RLC_ONNX_LIBRARY}" "${RLC_ONNX_PROTO_LIBRARY}" protobuf::libprotobuf)
else()
  message(FATAL_ERROR "no onnx C++ library in ${RLC_DEPS}/onnx: run scripts/setup")
endif()

# ONNX Runtime: only its C API is used.
if(DEFINED ENV{ONNXRUNTIME_ROOT})
  set(RLC_ONNXRUNTIME_DEFAULT "$ENV{ONNXRUNTIME_ROOT}")
else()
  set(RLC_ONNXRUNTIME_DEFAULT "${RLC_DEPS}/onnxruntime")
endif()
set(ONNXRUNTIME_ROOT "${RLC_ONNXRUNTIME_DEFAULT}" CACHE PATH "has include/ and lib/ of ONNX Runtime")
find_path(RLC_ONNXRUNTIME_INCLUDE onnxruntime_c_api.h PATHS "${ONNXRUNTIME_ROOT}/include"
  PATH_SUFFIXES onnxruntime onnxruntime/core/session NO_DEFAULT_PATH)
find_library(RLC_ONNXRUNTIME_LIBRARY onnxruntime PATHS "${ONNXRUNTIME_ROOT}/lib" NO_DEFAULT_PATH)
if(NOT RLC_ONNXRUNTIME_INCLUDE OR NOT RLC_ONNXRUNTIME_LIBRARY)
  message(FATAL_ERROR "no ONNX Runtime in ${ONNXRUNTIME_ROOT}: run scripts/setup, or set ONNXRUNTIME_ROOT")
endif()
add_library(rlc::onnxruntime SHARED IMPORTED)
set_target_properties(rlc::onnxruntime PROPERTIES
  IMPORTED_LOCATION "${RLC_ONNXRUNTIME_LIBRARY}"
  IMPORTED_SONAME libonnxruntime.so.1)
target_include_directories(rlc::onnxruntime SYSTEM INTERFACE "${RLC_ONNXRUNTIME_INCLUDE}")

# libtorch, for layer train alone. Debian's TorchConfig drags in programs and definitions that we do not need (and its
# C++ flags), so the libraries are named here.
if(RLC_TRAINER)
  find_path(RLC_TORCH_INCLUDE torch/csrc/api/include/torch/torch.h)
  find_library(RLC_TORCH_LIBRARY torch)
  find_library(RLC_TORCH_CPU_LIBRARY torch_cpu)
  find_library(RLC_C10_LIBRARY c10)
  if(NOT RLC_TORCH_INCLUDE OR NOT RLC_TORCH_LIBRARY OR NOT RLC_TORCH_CPU_LIBRARY OR NOT RLC_C10_LIBRARY)
    message(WARNING "no libtorch: rlc-train is not built; rlc works without it, with the policies that it comes with")
    set(RLC_TRAINER OFF)
  endif()
endif()
if(RLC_TRAINER)
  add_library(rlc::torch INTERFACE IMPORTED)
  target_include_directories(rlc::torch SYSTEM INTERFACE
    "${RLC_TORCH_INCLUDE}" "${RLC_TORCH_INCLUDE}/torch/csrc/api/include")
  target_link_libraries(rlc::torch INTERFACE
    "${RLC_TORCH_LIBRARY}" "${RLC_TORCH_CPU_LIBRARY}" "${RLC_C10_LIBRARY}" Threads::Threads)
endif()
