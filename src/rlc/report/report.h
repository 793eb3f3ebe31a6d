// From report.json (docs/report-schema.md) to one self-contained HTML page, and to the few lines that a terminal shows.
#ifndef RLC_REPORT_REPORT_H_
#define RLC_REPORT_REPORT_H_

#include <string>

#include "rlc/base/error.h"
#include "rlc/base/json.h"

namespace rlc {

// A page that needs nothing but itself: no scripts, no fonts, no requests. Everything from the report is escaped.
// Error: another schema version, a field that is missing or of the wrong type (its name is in the sentence).
Expected<std::string> RenderHtml(const Json& report);

// The verdict in two to four lines of text, the first of which says it all. Error: as RenderHtml.
Expected<std::string> RenderVerdict(const Json& report);

}  // namespace rlc

#endif  // RLC_REPORT_REPORT_H_
