// Plans as files: JSON for people, and a safetensors file for arrays that are too long to read.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "rlc/base/file.h"
#include "rlc/base/hash.h"
#include "rlc/data/safetensors.h"
#include "rlc/rewrite/plan.h"

namespace rlc {
namespace {

constexpr int64_t kVersion = 1;
constexpr size_t kMaxActions = 100'000;
constexpr size_t kMaxArrays = 1'000;  // of one action
constexpr int64_t kMaxInlineElements = 16;
constexpr size_t kMaxRank = 64;
constexpr JsonLimits kLimits{.max_bytes = std::size_t{64} << 20, .max_depth = 32};

std::string HashOf(const Tensor& tensor) {
  Hasher hasher;
  hasher.AddText(DTypeName(tensor.dtype()));
  hasher.AddInt(tensor.dims().size());
  for (const int64_t dim : tensor.dims()) hasher.AddInt(static_cast<uint64_t>(dim));
  hasher.Add(tensor.bytes());
  return hasher.Hex();
}

// --- between Tensor and Array ----------------------------------------------------------------------------------------

constexpr std::pair<DType, ElementType> kTypes[] = {
    {DType::kFloat16, ElementType::kFloat16}, {DType::kBFloat16, ElementType::kBFloat16},
    {DType::kFloat, ElementType::kFloat32},   {DType::kDouble, ElementType::kFloat64},
    {DType::kInt8, ElementType::kInt8},       {DType::kInt16, ElementType::kInt16},
    {DType::kInt32, ElementType::kInt32},     {DType::kInt64, ElementType::kInt64},
    {DType::kUint8, ElementType::kUint8},     {DType::kUint16, ElementType::kUint16},
    {DType::kUint32, ElementType::kUint32},   {DType::kUint64, ElementType::kUint64},
    {DType::kBool, ElementType::kBool}};

Expected<Array> ToArray(const Tensor& tensor) {
  for (const auto& [dtype, element] : kTypes) {
    if (dtype != tensor.dtype()) continue;
    const auto bytes = tensor.bytes();
    return Array::FromBytes(element, tensor.dims(),
                            std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  return MakeError(ErrorKind::kUnavailable, "arrays of {} cannot be stored in a plan", DTypeName(tensor.dtype()));
}

Tensor ToTensor(const Array& array) {
  for (const auto& [dtype, element] : kTypes) {
    if (element == array.type()) return Tensor::FromView(dtype, array.shape(), array.bytes(), array.owner());
  }
  internal::CheckFailed(__FILE__, __LINE__, "every element type has a counterpart",
                        std::string(ElementTypeName(array.type())));
}

// --- arrays in JSON --------------------------------------------------------------------------------------------------

// True when the numbers can stand in the JSON and come back the same.
bool FitsInline(const Tensor& tensor) {
  if (tensor.size() > kMaxInlineElements) return false;
  if (tensor.dtype() == DType::kInt64 || tensor.dtype() == DType::kUint64) return false;
  if (!IsFloat(tensor.dtype()) && !IsInteger(tensor.dtype())) return false;
  const auto values = tensor.ToDoubles();
  return values && std::all_of(values->begin(), values->end(),
                               [](double v) { return std::isfinite(v) && !(v == 0 && std::signbit(v)); });
}

Json ArrayToJson(const Tensor& tensor) {
  Json json = {{"dtype", DTypeName(tensor.dtype())}, {"dims", tensor.dims()}};
  if (FitsInline(tensor)) {
    json["data"] = *tensor.ToDoubles();
  } else {
    json["hash"] = HashOf(tensor);
  }
  return json;
}

Expected<Tensor> ArrayFromJson(const Json& json, const std::map<std::string, Tensor>& arrays) {
  RLC_RETURN_IF_ERROR(RefuseUnknownFields(json, {"dtype", "dims", "data", "hash"}));
  RLC_ASSIGN_OR_RETURN(const std::string name, GetString(json, "dtype"));
  RLC_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, GetInts(json, "dims"));
  const DType dtype = DTypeFromName(name);
  const auto count = ElementCount(dims);
  if (dtype == DType::kUndefined || dims.size() > kMaxRank || !count) {
    return MakeError(ErrorKind::kInvalidInput, "dtype '{}' or dims are not those of an array", name);
  }
  if (json.contains("data")) {
    RLC_ASSIGN_OR_RETURN(const std::vector<double> data, GetDoubles(json, "data"));
    if (static_cast<int64_t>(data.size()) != *count) {
      return MakeError(ErrorKind::kInvalidInput, "data has {} numbers, dims ask for {}", data.size(), *count);
    }
    if (!IsFloat(dtype) && !IsInteger(dtype)) {
      return MakeError(ErrorKind::kInvalidInput, "arrays of {} are not written as data", name);
    }
    return Tensor::FromDoubles(dtype, dims, data);
  }
  RLC_ASSIGN_OR_RETURN(const std::string hash, GetString(json, "hash"));
  const auto found = arrays.find(hash);
  if (found == arrays.end()) {
    return MakeError(ErrorKind::kInvalidInput, "the array {} is missing; keep the plan's .safetensors file beside it",
                     hash);
  }
  if (found->second.dtype() != dtype || found->second.dims() != dims) {
    return MakeError(ErrorKind::kInvalidInput, "the array {} has another type or shape than the plan says", hash);
  }
  return found->second;
}

// --- actions ---------------------------------------------------------------------------------------------------------

Expected<Action> ActionFromJson(const Json& json, const std::map<std::string, Tensor>& arrays) {
  if (!json.is_object()) return MakeError(ErrorKind::kInvalidInput, "it is no object");
  RLC_RETURN_IF_ERROR(RefuseUnknownFields(json, {"rewrite", "site", "values", "arrays"}));
  Action action;
  RLC_ASSIGN_OR_RETURN(action.rewrite, GetString(json, "rewrite"));
  RLC_ASSIGN_OR_RETURN(action.site, GetString(json, "site"));
  if (json.contains("values")) {
    RLC_ASSIGN_OR_RETURN(const Json* values, GetObject(json, "values"));
    action.params.values = *values;
  }
  if (!json.contains("arrays")) return action;
  RLC_ASSIGN_OR_RETURN(const Json* stored, GetObject(json, "arrays"));
  if (stored->size() > kMaxArrays) {
    return MakeError(ErrorKind::kInvalidInput, "it has {} arrays, at most {} are read", stored->size(), kMaxArrays);
  }
  for (const auto& [name, array] : stored->items()) {
    auto tensor = array.is_object() ? ArrayFromJson(array, arrays)
                                    : Expected<Tensor>(MakeError(ErrorKind::kInvalidInput, "it is no object"));
    if (!tensor) return WithContext(tensor.error(), fmt::format("array '{}'", name));
    action.params.arrays[name] = *std::move(tensor);
  }
  return action;
}

Json ActionToJson(const Action& action) {
  Json json = {{"rewrite", action.rewrite}, {"site", action.site}};
  if (!action.params.values.empty()) json["values"] = action.params.values;
  for (const auto& [name, tensor] : action.params.arrays) json["arrays"][name] = ArrayToJson(tensor);
  return json;
}

std::string ArraysPath(const std::string& path) {
  const bool json = path.size() > 5 && path.ends_with(".json");
  return (json ? path.substr(0, path.size() - 5) : path) + ".safetensors";
}

}  // namespace

Expected<Plan> ParsePlan(std::string_view text, const std::map<std::string, Tensor>& arrays) {
  RLC_ASSIGN_OR_RETURN(const Json json, ParseJson(text, "plan", kLimits));
  if (!json.is_object()) return MakeError(ErrorKind::kInvalidInput, "plan: the file holds no JSON object");
  RLC_ASSIGN_OR_RETURN(const int64_t version, GetInt(json, "version"));
  if (version != kVersion) {
    return MakeError(ErrorKind::kInvalidInput, "plan: version {}, this program reads {}", version, kVersion);
  }
  RLC_RETURN_IF_ERROR(RefuseUnknownFields(json, {"version", "model_hash", "actions", "provenance"}));
  Plan plan;
  RLC_ASSIGN_OR_RETURN(plan.model_hash, GetString(json, "model_hash"));
  RLC_ASSIGN_OR_RETURN(const Json* actions, GetArray(json, "actions"));
  if (actions->size() > kMaxActions) {
    return MakeError(ErrorKind::kInvalidInput, "plan: {} actions, at most {} are read", actions->size(), kMaxActions);
  }
  for (size_t i = 0; i < actions->size(); ++i) {
    auto action = ActionFromJson((*actions)[i], arrays);
    if (!action) return WithContext(action.error(), fmt::format("plan, action {}", i));
    plan.actions.push_back(*std::move(action));
  }
  if (json.contains("provenance")) {
    RLC_ASSIGN_OR_RETURN(const Json* provenance, GetObject(json, "provenance"));
    plan.provenance = *provenance;
  }
  return plan;
}

Expected<Plan> ReadPlan(const std::string& path) {
  RLC_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kLimits.max_bytes));
  std::map<std::string, Tensor> arrays;
  const std::string arrays_path = ArraysPath(path);
  if (path != "-" && FileExists(arrays_path)) {
    RLC_ASSIGN_OR_RETURN(const Safetensors stored, ReadSafetensors(arrays_path));
    for (const auto& [name, array] : stored.arrays) {
      Tensor tensor = ToTensor(array.Load());
      if (HashOf(tensor) != name) {
        return MakeError(ErrorKind::kInvalidInput, "{}: array {} has been changed: its contents do not fit its name",
                         arrays_path, name);
      }
      arrays.emplace(name, std::move(tensor));
    }
  }
  auto plan = ParsePlan(text, arrays);
  if (!plan) return WithContext(plan.error(), path);
  return plan;
}

Expected<void> WritePlan(const Plan& plan, const std::string& path) {
  Json actions = Json::array();
  std::map<std::string, Tensor> large;
  for (const Action& action : plan.actions) {
    actions.push_back(ActionToJson(action));
    for (const auto& [name, tensor] : action.params.arrays) {
      if (!FitsInline(tensor)) large.emplace(HashOf(tensor), tensor);
    }
  }
  if (!large.empty()) {
    if (path == "-") return MakeError(ErrorKind::kUsage, "this plan has large arrays and needs a file, not '-'");
    std::vector<NamedArray> arrays;
    for (const auto& [hash, tensor] : large) {
      RLC_ASSIGN_OR_RETURN(Array array, ToArray(tensor));
      arrays.push_back({hash, std::move(array)});
    }
    // The arrays first: a plan that is there has all that it names.
    RLC_RETURN_IF_ERROR(WriteSafetensors(ArraysPath(path), arrays));
  }
  const Json json = {{"version", kVersion},
                     {"model_hash", plan.model_hash},
                     {"actions", std::move(actions)},
                     {"provenance", plan.provenance}};
  return WriteFileAtomically(path, DumpJson(json));
}

}  // namespace rlc
