#include "atc/base/status.h"

#include "atc/base/check.h"

namespace atc {
namespace {

/// Statuses are copied by sharing; a copy that is written to gets a diagnostic of its own first.
Diagnostic* unshared(std::shared_ptr<Diagnostic>& diagnostic) {
  if (diagnostic == nullptr) return nullptr;
  if (diagnostic.use_count() > 1) diagnostic = std::make_shared<Diagnostic>(*diagnostic);
  return diagnostic.get();
}

}  // namespace

Status Status::error(std::string code, std::string message) {
  Status status;
  status.diagnostic_ = std::make_shared<Diagnostic>();
  status.diagnostic_->code = std::move(code);
  status.diagnostic_->message = std::move(message);
  return status;
}

const Diagnostic& Status::diagnostic() const {
  ATC_CHECK(diagnostic_ != nullptr, "Status::diagnostic of a success");
  return *diagnostic_;
}

Status&& Status::note(std::string text) && {
  if (auto* d = unshared(diagnostic_)) d->notes.push_back(std::move(text));
  return std::move(*this);
}

Status&& Status::cause(std::string text) && {
  if (auto* d = unshared(diagnostic_)) d->possible_cause = std::move(text);
  return std::move(*this);
}

Status&& Status::solution(std::string text) && {
  if (auto* d = unshared(diagnostic_)) d->solution = std::move(text);
  return std::move(*this);
}

Status&& Status::while_doing(std::string text) && {
  if (auto* d = unshared(diagnostic_)) d->context.push_back(std::move(text));
  return std::move(*this);
}

std::string Status::to_string() const {
  if (ok()) return {};
  std::string text = diagnostic_->code + ": " + diagnostic_->message;
  for (const std::string& note : diagnostic_->notes) text += "\n  note: " + note;
  return text;
}

}  // namespace atc
