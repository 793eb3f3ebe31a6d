// The page, section by section.

#include <algorithm>

#include "rlc/base/format.h"
#include "rlc/report/chart.h"
#include "rlc/report/figures.h"
#include "rlc/report/report.h"
#include "rlc/report/style.h"
#include "rlc/report/verdict.h"

namespace rlc {
namespace {

constexpr int64_t kSchemaVersion = 1;

std::string Heading(std::string_view title) { return fmt::format("<h2>{}</h2>", Escape(title)); }

std::string Table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& marked = {}) {
  std::string html = "<div class=scroll><table>";
  for (size_t i = 0; i < rows.size(); ++i) {
    const char* cell = i == 0 ? "th" : "td";
    html += i < marked.size() && marked[i] ? "<tr class=winner>" : "<tr>";
    for (const std::string& text : rows[i]) html += fmt::format("<{0}>{1}</{0}>", cell, Escape(text));
    html += "</tr>";
  }
  return html + "</table></div>";
}

std::string Details(std::string_view summary, const std::string& content) {
  return fmt::format("<details><summary>{}</summary>{}</details>", Escape(summary), content);
}

std::string Card(std::string_view title, const std::string& figure, const std::string& note) {
  return fmt::format("<div><dt>{}</dt><dd>{}<small>{}</small></dd></div>", Escape(title), Escape(figure), Escape(note));
}

Expected<std::string> VerdictSection(const Json& report) {
  RLC_ASSIGN_OR_RETURN(const VerdictWords words, WordVerdict(report));
  RLC_ASSIGN_OR_RETURN(const Json* verdict, GetObject(report, "verdict"));
  RLC_ASSIGN_OR_RETURN(const Json* model, GetObject(report, "model"));
  RLC_ASSIGN_OR_RETURN(const std::string path, GetString(*model, "path"));
  RLC_ASSIGN_OR_RETURN(const Estimate before, ReadNeededEstimate(*verdict, "latency_before"));
  RLC_ASSIGN_OR_RETURN(const Estimate after, ReadNeededEstimate(*verdict, "latency_after"));
  RLC_ASSIGN_OR_RETURN(const int64_t bytes_before, GetInt(*verdict, "bytes_before"));
  RLC_ASSIGN_OR_RETURN(const int64_t bytes_after, GetInt(*verdict, "bytes_after"));
  RLC_ASSIGN_OR_RETURN(const std::optional<Estimate> drop, ReadEstimate(*verdict, "drop"));
  RLC_ASSIGN_OR_RETURN(const std::optional<Estimate> energy, ReadEstimate(*verdict, "energy"));
  RLC_ASSIGN_OR_RETURN(const bool random_data, GetBool(*verdict, "random_data"));
  std::string details;
  for (const std::string& detail : words.details) details += (details.empty() ? "" : "; ") + detail;
  std::string html =
      fmt::format("<h1>rlc optimize {}</h1><p class='verdict{}'>{}</p><p class=sub>{}.</p><dl class=cards>",
                  Escape(path), words.good ? " good" : "", Escape(words.headline), Escape(details));
  html += Card("Latency before", LatencyText(before), "median, 95 % interval");
  html += Card("Latency after", LatencyText(after), "median, 95 % interval");
  html += Card("Accuracy drop", drop ? PointsText(*drop) : "not measured",
               drop ? fmt::format("{} held-out samples{}", drop->samples, random_data ? ", RANDOM inputs" : "")
                    : "no change to judge");
  html += Card("File size", FormatBytes(static_cast<double>(bytes_after)),
               fmt::format("was {}", FormatBytes(static_cast<double>(bytes_before))));
  html += Card("Energy of a run",
               energy ? fmt::format("{:.3g} mJ ({:.3g} \u2013 {:.3g})", energy->value, energy->low, energy->high)
                      : "not measured",
               energy ? "idle subtracted" : "see \u201cNot measured\u201d");
  return html + "</dl>";
}

struct TrialPoint {
  std::string name;
  double ratio = 0, drop = 0;
  int64_t evaluation = 0;
};

struct Trials {
  std::vector<TrialPoint> points;
  std::vector<std::vector<std::string>> failures;
};

Expected<Trials> ReadTrials(const Json& report) {
  RLC_ASSIGN_OR_RETURN(const Json* list, GetArray(report, "trials"));
  Trials trials;
  for (const Json& trial : *list) {
    TrialPoint point;
    RLC_ASSIGN_OR_RETURN(point.name, GetString(trial, "name"));
    RLC_ASSIGN_OR_RETURN(point.evaluation, GetInt(trial, "evaluation"));
    if (trial.contains("failure")) {
      RLC_ASSIGN_OR_RETURN(const std::string failure, GetString(trial, "failure"));
      trials.failures.push_back({point.name, failure});
      continue;
    }
    RLC_ASSIGN_OR_RETURN(const Estimate ratio, ReadNeededEstimate(trial, "ratio"));
    RLC_ASSIGN_OR_RETURN(const std::optional<Estimate> drop, ReadEstimate(trial, "drop"));
    point.ratio = ratio.value;
    point.drop = drop ? drop->value : 0;
    trials.points.push_back(std::move(point));
  }
  return trials;
}

// Points that no other beats in both latency and drop, by drop.
std::vector<TrialPoint> ParetoFront(std::vector<TrialPoint> points) {
  std::sort(points.begin(), points.end(), [](const TrialPoint& a, const TrialPoint& b) {
    return a.drop != b.drop ? a.drop < b.drop : a.ratio < b.ratio;
  });
  std::vector<TrialPoint> front;
  for (const TrialPoint& point : points) {
    if (front.empty() || point.ratio < front.back().ratio) front.push_back(point);
  }
  return front;
}

ChartPoint AsChartPoint(const TrialPoint& point) {
  return {
      100 * point.drop, point.ratio,
      fmt::format("{}: {:.3f} of the time, {:.2f} points", point.name.substr(0, 200), point.ratio, 100 * point.drop)};
}

Expected<std::string> TrialsSection(const Json& report) {
  RLC_ASSIGN_OR_RETURN(const Trials trials, ReadTrials(report));
  RLC_ASSIGN_OR_RETURN(const std::string method, GetString(report, "method"));
  RLC_ASSIGN_OR_RETURN(const Json* verdict, GetObject(report, "verdict"));
  RLC_ASSIGN_OR_RETURN(const double max_drop, GetDouble(*verdict, "max_drop"));
  Chart scatter{"Latency against accuracy drop of all trials",
                "accuracy drop on the search split, points",
                "latency / original",
                {},
                {{100 * max_drop, "limit"}}};
  ChartSeries all{"trials", "trial", {}, false}, front{"Pareto front", "front", {}, true};
  std::vector<std::vector<std::string>> rows = {{"trial", "latency / original", "drop, points"}};
  for (const TrialPoint& point : trials.points) {
    all.points.push_back(AsChartPoint(point));
    if (rows.size() <= 300)
      rows.push_back({point.name, fmt::format("{:.3f}", point.ratio), fmt::format("{:.2f}", 100 * point.drop)});
  }
  for (const TrialPoint& point : ParetoFront(trials.points)) front.points.push_back(AsChartPoint(point));
  scatter.series = {all, {"the original", "baseline", {{0, 1, "the original"}}, false}, front};

  Chart progress{"Best latency so far against evaluations", "measured evaluations", "best latency / original", {}, {}};
  ChartSeries best{"best within the limit", "winner", {}, true};
  double lowest = 1;
  for (const TrialPoint& point : trials.points) {
    if (point.drop > max_drop || point.ratio >= lowest) continue;
    lowest = point.ratio;
    best.points.push_back({static_cast<double>(point.evaluation), lowest, point.name.substr(0, 200)});
  }
  progress.series = {best};
  std::string html = Heading("Trials") + fmt::format("<p class=muted>{} measured with method {}; {} failed.</p>",
                                                     trials.points.size(), Escape(method), trials.failures.size());
  html += RenderChart(scatter) + Details("The trials as a table", Table(rows));
  if (!trials.failures.empty()) {
    auto failures = trials.failures;
    failures.insert(failures.begin(), {"failed trial", "reason"});
    html += Details("Failed trials", Table(failures));
  }
  return html + "<p></p>" + RenderChart(progress);
}

Expected<std::string> FinalistsSection(const Json& report) {
  RLC_ASSIGN_OR_RETURN(const Json* finalists, GetArray(report, "finalists"));
  std::vector<std::vector<std::string>> rows = {
      {"finalist", "latency", "speed-up", "", "drop, search", "drop, final", "size"}};
  std::vector<bool> marked = {false};
  for (const Json& finalist : *finalists) {
    RLC_ASSIGN_OR_RETURN(const std::string name, GetString(finalist, "name"));
    RLC_ASSIGN_OR_RETURN(const std::string change, GetString(finalist, "change"));
    RLC_ASSIGN_OR_RETURN(const Estimate latency, ReadNeededEstimate(finalist, "latency"));
    RLC_ASSIGN_OR_RETURN(const Estimate ratio, ReadNeededEstimate(finalist, "ratio"));
    RLC_ASSIGN_OR_RETURN(const auto search_drop, ReadEstimate(finalist, "search_drop"));
    RLC_ASSIGN_OR_RETURN(const auto final_drop, ReadEstimate(finalist, "final_drop"));
    RLC_ASSIGN_OR_RETURN(const int64_t bytes, GetInt(finalist, "bytes"));
    RLC_ASSIGN_OR_RETURN(const bool winner, GetBool(finalist, "winner"));
    const Estimate speedup{1 / ratio.value, 1 / ratio.high, 1 / ratio.low, ratio.samples, "x"};
    rows.push_back({name, LatencyText(latency), SpeedupText(speedup), change,
                    search_drop ? PointsText(*search_drop) : "\u2013", final_drop ? PointsText(*final_drop) : "\u2013",
                    FormatBytes(static_cast<double>(bytes))});
    marked.push_back(winner);
  }
  return Heading("Finalists") +
         "<p class=muted>Timed afresh, interleaved, in one process. The final split was looked at once, by those "
         "faster than the "
         "original.</p>" +
         Table(rows, marked);
}

Expected<std::string> PlanSection(const Json& report) {
  RLC_ASSIGN_OR_RETURN(const Json* plan, GetObject(report, "plan"));
  RLC_ASSIGN_OR_RETURN(const std::vector<std::string> actions, GetStrings(*plan, "actions"));
  RLC_ASSIGN_OR_RETURN(const Json* credits, GetArray(*plan, "credits"));
  std::string html = Heading("Plan");
  if (actions.empty()) return html + "<p class=muted>Empty: the original model.</p>";
  std::vector<std::vector<std::string>> rows = {{"what is left out", "time without it / time of the result"}};
  for (const Json& credit : *credits) {
    RLC_ASSIGN_OR_RETURN(const std::string name, GetString(credit, "name"));
    RLC_ASSIGN_OR_RETURN(const Estimate without, ReadNeededEstimate(credit, "without"));
    rows.push_back({name, fmt::format("{:.3f} ({:.3f} \u2013 {:.3f})", without.value, without.low, without.high)});
  }
  if (rows.size() > 1) {
    html +=
        "<p class=muted>Measured credit: above 1, leaving the part out makes the result slower. An interval that holds "
        "1 shows no "
        "effect.</p>" +
        Table(rows);
  }
  std::string list = "<ol>";
  for (const std::string& action : actions) list += fmt::format("<li><code>{}</code></li>", Escape(action));
  return html + Details(fmt::format("All {} actions in order", actions.size()), list + "</ol>");
}

std::string Milliseconds(const Json& layer, const char* key) {
  const auto found = layer.find(key);
  return found != layer.end() && found->is_number() ? fmt::format("{:.4g}", found->get<double>()) : "\u2013";
}

Expected<std::string> LayersSection(const Json& report) {
  RLC_ASSIGN_OR_RETURN(const Json* layers, GetArray(report, "layers"));
  std::vector<std::vector<std::string>> rows = {{"layer", "form", "ran as", "float, ms", "int8, ms"}};
  for (const Json& layer : *layers) {
    RLC_ASSIGN_OR_RETURN(const int64_t number, GetInt(layer, "number"));
    RLC_ASSIGN_OR_RETURN(const std::string name, GetString(layer, "name"));
    RLC_ASSIGN_OR_RETURN(const std::string signature, GetString(layer, "signature"));
    RLC_ASSIGN_OR_RETURN(const std::string form, GetString(layer, "form"));
    RLC_ASSIGN_OR_RETURN(const bool pruned, GetBool(layer, "pruned"));
    RLC_ASSIGN_OR_RETURN(const std::string ran_as, GetStringOr(layer, "ran_as", "\u2013"));
    rows.push_back({fmt::format("{} {} \u2014 {}", number, name, signature), form + (pruned ? ", pruned" : ""), ran_as,
                    Milliseconds(layer, "float_ms"), Milliseconds(layer, "int8_ms")});
  }
  RLC_ASSIGN_OR_RETURN(const Json* refusals, GetArray(report, "refusals"));
  std::vector<std::vector<std::string>> refused = {{"action", "layer", "refused because"}};
  for (const Json& refusal : *refusals) {
    RLC_ASSIGN_OR_RETURN(const std::string action, GetString(refusal, "action"));
    RLC_ASSIGN_OR_RETURN(const int64_t layer, GetInt(refusal, "layer"));
    RLC_ASSIGN_OR_RETURN(const std::string reason, GetString(refusal, "reason"));
    refused.push_back({action, std::to_string(layer), reason});
  }
  std::string html = Heading("Layers") +
                     "<p class=muted>\u201cRan as\u201d is read back from the runtime. Times are of the layer alone, "
                     "from this machine\u2019s tables; with \u2013 where none was taken.</p>";
  html += Details(fmt::format("{} layers", rows.size() - 1), Table(rows));
  if (refused.size() > 1) html += Details(fmt::format("{} refused actions", refused.size() - 1), Table(refused));
  return html;
}

Expected<std::string> LearningSection(const Json& report) {
  RLC_ASSIGN_OR_RETURN(const Json* learning, GetField(report, "learning"));
  if (learning->is_null()) return Heading("Learning") + "<p class=muted>No policy was trained in this run.</p>";
  RLC_ASSIGN_OR_RETURN(const Json* curve, GetArray(*learning, "curve"));
  ChartSeries gain{"mean gain of an episode (estimate)", "winner", {}, true};
  for (const Json& point : *curve) {
    if (!point.is_array() || point.size() != 2 || !point[0].is_number() || !point[1].is_number()) {
      return MakeError(ErrorKind::kInvalidInput, "learning.curve: wanted pairs of numbers");
    }
    gain.points.push_back({point[0].get<double>(), 100 * point[1].get<double>(), ""});
  }
  return Heading("Learning") +
         RenderChart({"Learning curve", "timesteps on the surrogate", "mean gain, % (estimate)", {gain}, {}});
}

Expected<std::string> CircumstancesSection(const Json& report) {
  RLC_ASSIGN_OR_RETURN(const Json* data, GetObject(report, "data"));
  RLC_ASSIGN_OR_RETURN(const std::string description, GetString(*data, "description"));
  RLC_ASSIGN_OR_RETURN(const std::string metric, GetString(*data, "metric"));
  RLC_ASSIGN_OR_RETURN(const int64_t calibration, GetInt(*data, "calibration_rows"));
  RLC_ASSIGN_OR_RETURN(const int64_t search, GetInt(*data, "search_rows"));
  RLC_ASSIGN_OR_RETURN(const int64_t final_rows, GetInt(*data, "final_rows"));
  RLC_ASSIGN_OR_RETURN(const Json* timing, GetObject(report, "timing"));
  RLC_ASSIGN_OR_RETURN(const int64_t rounds, GetInt(*timing, "rounds"));
  RLC_ASSIGN_OR_RETURN(const int64_t threads, GetInt(*timing, "threads"));
  RLC_ASSIGN_OR_RETURN(const auto control, ReadEstimate(*timing, "control"));
  RLC_ASSIGN_OR_RETURN(const Json* machine, GetObject(report, "machine"));
  RLC_ASSIGN_OR_RETURN(const std::string cpu, GetString(*machine, "cpu"));
  RLC_ASSIGN_OR_RETURN(const std::string runtime, GetString(report, "runtime"));
  RLC_ASSIGN_OR_RETURN(const std::string command, GetString(report, "command"));
  RLC_ASSIGN_OR_RETURN(const Json* phases, GetArray(report, "phases"));
  RLC_ASSIGN_OR_RETURN(const auto not_measured, GetStrings(report, "not_measured"));
  RLC_ASSIGN_OR_RETURN(const auto warnings, GetStrings(report, "warnings"));
  std::string html = Heading("How this was measured");
  html += Table({{"what", "value"},
                 {"data", description},
                 {"metric", metric},
                 {"rows: calibration, search, final", fmt::format("{}, {}, {}", calibration, search, final_rows)},
                 {"timing rounds, threads", fmt::format("{}, {}", rounds, threads)},
                 {"the original against itself", control ? SpeedupText(*control) : "no control"},
                 {"machine", cpu},
                 {"ONNX Runtime", runtime}});
  html += fmt::format("<p><code>{}</code></p>", Escape(command));
  std::vector<std::vector<std::string>> rows = {{"phase", "seconds"}};
  for (const Json& phase : *phases) {
    RLC_ASSIGN_OR_RETURN(const std::string name, GetString(phase, "name"));
    RLC_ASSIGN_OR_RETURN(const double seconds, GetDouble(phase, "seconds"));
    rows.push_back({name, fmt::format("{:.1f}", seconds)});
  }
  html += Details("Phases", Table(rows));
  html += Details("Machine", fmt::format("<code>{}</code>", Escape(DumpJson(*machine))));
  for (const auto& [title, list] : {std::pair("Not measured", not_measured), std::pair("Warnings", warnings)}) {
    if (list.empty()) continue;
    html += Heading(title) + "<ul class=warn>";
    for (const std::string& line : list) html += fmt::format("<li>{}</li>", Escape(line));
    html += "</ul>";
  }
  return html;
}

}  // namespace

Expected<std::string> RenderHtml(const Json& report) {
  RLC_ASSIGN_OR_RETURN(const int64_t schema, GetInt(report, "schema"));
  if (schema != kSchemaVersion) {
    return MakeError(ErrorKind::kInvalidInput, "report: schema version {}, this rlc renders {}", schema,
                     kSchemaVersion);
  }
  std::string body;
  for (const auto section : {VerdictSection, FinalistsSection, TrialsSection, PlanSection, LayersSection,
                             LearningSection, CircumstancesSection}) {
    RLC_ASSIGN_OR_RETURN(const std::string html, section(report));
    body += html;
  }
  return fmt::format(
      "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
      "<title>rlc optimize: report</title><style>{}</style><main>{}</main></html>\n",
      kStyleSheet, body);
}

}  // namespace rlc
