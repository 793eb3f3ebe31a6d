#include "rlc/cost/catalogue.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace rlc {
namespace {

constexpr std::array<ActionType, 3> kTypes = {ActionType::kFuseConvBn, ActionType::kPrune, ActionType::kQuantize};

bool Contains(const Candidate& candidate, int entry) {
  return std::find(candidate.begin(), candidate.end(), entry) != candidate.end();
}

Expected<ActionType> ParseActionType(std::string_view name) {
  for (ActionType type : kTypes) {
    if (ActionTypeName(type) == name) return type;
  }
  return MakeError(ErrorKind::kInvalidInput, "action type '{}': wanted fuse_conv_bn, prune or quantize", name);
}

// A layer's number, in [0, layers): the rest of the program indexes with it.
Expected<int> CheckLayer(int64_t number, size_t layers) {
  if (number < 0 || static_cast<uint64_t>(number) >= layers) {
    return MakeError(ErrorKind::kInvalidInput, "layer {} is not among the {} layers", number, layers);
  }
  return static_cast<int>(number);
}

Expected<LayerEntry> LayerFromJson(const Json& json, size_t number, size_t layers) {
  LayerEntry layer;
  layer.number = static_cast<int>(number);
  RLC_ASSIGN_OR_RETURN(layer.name, GetString(json, "name"));
  RLC_ASSIGN_OR_RETURN(layer.op, GetString(json, "op"));
  RLC_ASSIGN_OR_RETURN(layer.signature, GetString(json, "signature"));
  RLC_ASSIGN_OR_RETURN(layer.has_bn, GetBool(json, "has_bn"));
  RLC_ASSIGN_OR_RETURN(const std::vector<int64_t> readers, GetInts(json, "readers"));
  for (int64_t reader : readers) {
    RLC_ASSIGN_OR_RETURN(const int checked, CheckLayer(reader, layers));
    layer.readers.push_back(checked);
  }
  return layer;
}

Expected<CatalogueEntry> EntryFromJson(const Json& json, size_t layers) {
  CatalogueEntry entry;
  RLC_ASSIGN_OR_RETURN(const std::string type, GetString(json, "type"));
  RLC_ASSIGN_OR_RETURN(entry.type, ParseActionType(type));
  RLC_ASSIGN_OR_RETURN(const int64_t layer, GetInt(json, "layer"));
  RLC_ASSIGN_OR_RETURN(entry.layer, CheckLayer(layer, layers));
  RLC_ASSIGN_OR_RETURN(entry.name, GetString(json, "name"));
  RLC_ASSIGN_OR_RETURN(entry.sparsity, GetDouble(json, "sparsity"));
  RLC_ASSIGN_OR_RETURN(const Json* shrinks, GetArray(json, "shrinks"));
  for (const Json& shrink : *shrinks) {
    RLC_ASSIGN_OR_RETURN(const int64_t shrunk, GetInt(shrink, "layer"));
    RLC_ASSIGN_OR_RETURN(const int checked, CheckLayer(shrunk, layers));
    RLC_ASSIGN_OR_RETURN(const double factor, GetDouble(shrink, "factor"));
    if (!(factor >= 0 && factor <= 1)) {
      return MakeError(ErrorKind::kInvalidInput, "shrink of layer {}: factor {} is not between 0 and 1", shrunk,
                       factor);
    }
    entry.shrinks.push_back({checked, factor});
  }
  return entry;
}

// The rows of one of the two lists.
Expected<const Json*> GetRows(const Json& json, std::string_view key) {
  RLC_ASSIGN_OR_RETURN(const Json* rows, GetArray(json, key));
  if (rows->size() > kMostCatalogueRows) {
    return MakeError(ErrorKind::kInvalidInput, "{}: {} rows, at most {} are supported", key, rows->size(),
                     kMostCatalogueRows);
  }
  return rows;
}

}  // namespace

std::string_view ActionTypeName(ActionType type) {
  switch (type) {
    case ActionType::kFuseConvBn:
      return "fuse_conv_bn";
    case ActionType::kPrune:
      return "prune";
    case ActionType::kQuantize:
      return "quantize";
  }
  return "";
}

int Catalogue::Find(ActionType type, int layer) const {
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].type == type && entries[i].layer == layer) return static_cast<int>(i);
  }
  return -1;
}

int RequiredEntry(const Catalogue& catalogue, int entry) {
  const CatalogueEntry& e = catalogue.entries[static_cast<size_t>(entry)];
  if (e.type != ActionType::kQuantize || !catalogue.layers[static_cast<size_t>(e.layer)].has_bn) return -1;
  return catalogue.Find(ActionType::kFuseConvBn, e.layer);
}

bool CanAdd(const Catalogue& catalogue, const Candidate& candidate, int entry) {
  if (Contains(candidate, entry)) return false;
  const int needed = RequiredEntry(catalogue, entry);
  return needed < 0 || Contains(candidate, needed);
}

Candidate Normalized(const Catalogue& catalogue, const Candidate& candidate) {
  Candidate all = candidate;
  for (int entry : candidate) {
    const int needed = RequiredEntry(catalogue, entry);
    if (needed >= 0) all.push_back(needed);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

Plan ToPlan(const Catalogue& catalogue, const Candidate& candidate, const std::string& model_hash) {
  Candidate order = Normalized(catalogue, candidate);
  const auto key = [&](int entry) {
    const CatalogueEntry& e = catalogue.entries[static_cast<size_t>(entry)];
    return std::tuple(e.type, e.layer, entry);
  };
  std::sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  Plan plan;
  plan.model_hash = model_hash;
  plan.actions = catalogue.prologue;
  // Exact rewrites alone need no newer operator set; PP-OCR's classifier took 3 % longer in the one for int8.
  if (order.empty()) std::erase_if(plan.actions, [](const Action& action) { return action.rewrite == "raise-opset"; });
  for (int entry : order) plan.actions.push_back(catalogue.entries[static_cast<size_t>(entry)].action);
  plan.actions.insert(plan.actions.end(), catalogue.epilogue.begin(), catalogue.epilogue.end());
  return plan;
}

std::string Describe(const Catalogue& catalogue, const Candidate& candidate) {
  std::string text;
  for (int entry : candidate) {
    text += (text.empty() ? "" : ", ") + catalogue.entries[static_cast<size_t>(entry)].name;
  }
  return text.empty() ? "nothing" : text;
}

Json ToJson(const Catalogue& catalogue) {
  Json entries = Json::array(), layers = Json::array();
  for (const CatalogueEntry& entry : catalogue.entries) {
    Json shrinks = Json::array();
    for (const Shrink& shrink : entry.shrinks) shrinks.push_back({{"layer", shrink.layer}, {"factor", shrink.factor}});
    entries.push_back({{"type", ActionTypeName(entry.type)},
                       {"layer", entry.layer},
                       {"name", entry.name},
                       {"sparsity", entry.sparsity},
                       {"shrinks", std::move(shrinks)}});
  }
  for (const LayerEntry& layer : catalogue.layers) {
    layers.push_back({{"name", layer.name},
                      {"op", layer.op},
                      {"signature", layer.signature},
                      {"has_bn", layer.has_bn},
                      {"readers", layer.readers}});
  }
  return {{"entries", std::move(entries)}, {"layers", std::move(layers)}};
}

Expected<Catalogue> CatalogueFromJson(const Json& json) {
  Catalogue catalogue;
  RLC_ASSIGN_OR_RETURN(const Json* layers, GetRows(json, "layers"));
  for (const Json& layer : *layers) {
    const size_t number = catalogue.layers.size();
    auto parsed = LayerFromJson(layer, number, layers->size());
    if (!parsed) return WithContext(std::move(parsed).error(), fmt::format("catalogue: layers[{}]", number));
    catalogue.layers.push_back(*std::move(parsed));
  }
  RLC_ASSIGN_OR_RETURN(const Json* entries, GetRows(json, "entries"));
  for (const Json& entry : *entries) {
    auto parsed = EntryFromJson(entry, layers->size());
    if (!parsed) {
      return WithContext(std::move(parsed).error(), fmt::format("catalogue: entries[{}]", catalogue.entries.size()));
    }
    catalogue.entries.push_back(*std::move(parsed));
  }
  return catalogue;
}

}  // namespace rlc
