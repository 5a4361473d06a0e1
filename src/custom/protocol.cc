#include "custom/protocol.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace atc::custom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kMaxMessage = std::uint64_t{1} << 30;

bool send_all(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = send(fd, data, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

Received receive_all(int fd, char* data, std::size_t size, Clock::time_point end, bool limited) {
  while (size > 0) {
    if (limited) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
      if (left <= 0) return Received::TimedOut;
      pollfd p = {fd, POLLIN, 0};
      const int ready = poll(&p, 1, static_cast<int>(std::min<long long>(left, 60000)));
      if (ready < 0 && errno != EINTR) return Received::Closed;
      if (ready <= 0) continue;
    }
    const ssize_t n = recv(fd, data, size, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Received::Closed;
    data += n;
    size -= static_cast<std::size_t>(n);
  }
  return Received::Message;
}

}  // namespace

void set_status(Response& response, const Status& status) {
  if (status.ok()) return;
  const Diagnostic& d = status.diagnostic();
  response.code = d.code;
  response.message = d.message;
  response.solution = d.solution;
  response.notes = d.notes;
}

Status status_of(const Response& response) {
  if (response.code.empty()) return {};
  Status status = Status::error(response.code, response.message);
  for (const std::string& note : response.notes) status = std::move(status).note(note);
  if (!response.solution.empty()) status = std::move(status).solution(response.solution);
  return status;
}

bool send_message(int fd, const std::string& message) {
  const std::uint64_t size = message.size();
  return send_all(fd, reinterpret_cast<const char*>(&size), sizeof size) &&
         send_all(fd, message.data(), message.size());
}

Received receive_message(int fd, std::string& message, int milliseconds) {
  const bool limited = milliseconds >= 0;
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(std::max(milliseconds, 0));
  std::uint64_t size = 0;
  if (const Received r = receive_all(fd, reinterpret_cast<char*>(&size), sizeof size, end, limited);
      r != Received::Message)
    return r;
  if (size > kMaxMessage) return Received::Closed;
  message.resize(size);
  return receive_all(fd, message.data(), message.size(), end, limited);
}

}  // namespace atc::custom
