// Options of the sanitizers, linked into every program of a sanitizer build. The environment (ASAN_OPTIONS, ...) still
// overrides them.

extern "C" {

// Memory kept by our own code until the end is a leak. abort_on_error=0: death tests look at the exit code.
__attribute__((used, visibility("default"))) const char* __asan_default_options() {
  return "detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1";
}

__attribute__((used, visibility("default"))) const char* __ubsan_default_options() { return "print_stacktrace=1"; }

__attribute__((used, visibility("default"))) const char* __tsan_default_options() {
  return "second_deadlock_stack=1:ignore_noninstrumented_modules=1";
}

// What other libraries keep until the end.
__attribute__((used, visibility("default"))) const char* __lsan_default_suppressions() { return ""; }

}  // extern "C"
