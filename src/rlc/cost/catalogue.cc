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

// The fold that `entry` needs before it, -1: none.
int Needs(const Catalogue& catalogue, int entry) {
  const CatalogueEntry& e = catalogue.entries[static_cast<size_t>(entry)];
  if (e.type != ActionType::kQuantize || !catalogue.layers[static_cast<size_t>(e.layer)].has_bn) return -1;
  return catalogue.Find(ActionType::kFuseConvBn, e.layer);
}

Expected<ActionType> ParseActionType(std::string_view name) {
  for (ActionType type : kTypes) {
    if (ActionTypeName(type) == name) return type;
  }
  return MakeError(ErrorKind::kInvalidInput, "action type '{}': wanted fuse_conv_bn, prune or quantize", name);
}

Expected<LayerEntry> LayerFromJson(const Json& json, size_t number) {
  LayerEntry layer;
  layer.number = static_cast<int>(number);
  RLC_ASSIGN_OR_RETURN(layer.name, GetString(json, "name"));
  RLC_ASSIGN_OR_RETURN(layer.op, GetString(json, "op"));
  RLC_ASSIGN_OR_RETURN(layer.signature, GetString(json, "signature"));
  RLC_ASSIGN_OR_RETURN(layer.has_bn, GetBool(json, "has_bn"));
  RLC_ASSIGN_OR_RETURN(const std::vector<int64_t> readers, GetInts(json, "readers"));
  for (int64_t reader : readers) layer.readers.push_back(static_cast<int>(reader));
  return layer;
}

Expected<CatalogueEntry> EntryFromJson(const Json& json) {
  CatalogueEntry entry;
  RLC_ASSIGN_OR_RETURN(const std::string type, GetString(json, "type"));
  RLC_ASSIGN_OR_RETURN(entry.type, ParseActionType(type));
  RLC_ASSIGN_OR_RETURN(const int64_t layer, GetInt(json, "layer"));
  entry.layer = static_cast<int>(layer);
  RLC_ASSIGN_OR_RETURN(entry.name, GetString(json, "name"));
  RLC_ASSIGN_OR_RETURN(entry.sparsity, GetDouble(json, "sparsity"));
  RLC_ASSIGN_OR_RETURN(const Json* shrinks, GetArray(json, "shrinks"));
  for (const Json& shrink : *shrinks) {
    RLC_ASSIGN_OR_RETURN(const int64_t shrunk, GetInt(shrink, "layer"));
    RLC_ASSIGN_OR_RETURN(const double factor, GetDouble(shrink, "factor"));
    entry.shrinks.push_back({static_cast<int>(shrunk), factor});
  }
  return entry;
}

// Layer numbers that the rest of the program will index with.
Expected<void> CheckLayers(const Catalogue& catalogue) {
  const auto good = [&](int layer) { return layer >= 0 && static_cast<size_t>(layer) < catalogue.layers.size(); };
  for (const CatalogueEntry& entry : catalogue.entries) {
    const bool shrinks_good = std::all_of(entry.shrinks.begin(), entry.shrinks.end(),
                                          [&](const Shrink& shrink) { return good(shrink.layer); });
    if (!good(entry.layer) || !shrinks_good) {
      return MakeError(ErrorKind::kInvalidInput, "entry '{}' names a layer that is not among the {} layers", entry.name,
                       catalogue.layers.size());
    }
  }
  for (const LayerEntry& layer : catalogue.layers) {
    if (!std::all_of(layer.readers.begin(), layer.readers.end(), good)) {
      return MakeError(ErrorKind::kInvalidInput, "layer {} has a reader that is not among the {} layers", layer.number,
                       catalogue.layers.size());
    }
  }
  return {};
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

bool CanAdd(const Catalogue& catalogue, const Candidate& candidate, int entry) {
  if (Contains(candidate, entry)) return false;
  const int needed = Needs(catalogue, entry);
  return needed < 0 || Contains(candidate, needed);
}

Candidate Normalized(const Catalogue& catalogue, const Candidate& candidate) {
  Candidate all = candidate;
  for (int entry : candidate) {
    const int needed = Needs(catalogue, entry);
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
  RLC_ASSIGN_OR_RETURN(const Json* layers, GetArray(json, "layers"));
  for (const Json& layer : *layers) {
    RLC_ASSIGN_OR_RETURN(LayerEntry parsed, LayerFromJson(layer, catalogue.layers.size()));
    catalogue.layers.push_back(std::move(parsed));
  }
  RLC_ASSIGN_OR_RETURN(const Json* entries, GetArray(json, "entries"));
  for (const Json& entry : *entries) {
    RLC_ASSIGN_OR_RETURN(CatalogueEntry parsed, EntryFromJson(entry));
    catalogue.entries.push_back(std::move(parsed));
  }
  RLC_RETURN_IF_ERROR(CheckLayers(catalogue));
  return catalogue;
}

}  // namespace rlc
