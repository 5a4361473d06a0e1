#include "driver/isolate.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

#include "atc/base/check.h"

namespace atc::driver {
namespace {

using Clock = std::chrono::steady_clock;
using End = IsolatedResult::End;

constexpr int kNoResult = 70;  // exit code of a child whose work threw

struct Child {
  std::size_t index = 0;
  pid_t pid = -1;
  int result_fd = -1;   // read end: the result, then end of file
  int printed_fd = -1;  // a memory file: stdout and stderr
  Clock::time_point deadline;
  std::string result;
};

bool write_all(int fd, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = write(fd, text.data() + at, text.size() - at);
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) at += static_cast<std::size_t>(n);
  }
  return true;
}

[[noreturn]] void child_main(std::size_t index, int result_fd, int printed_fd,
                             const std::function<std::string(std::size_t)>& work) {
  setpgid(0, 0);  // so that what it starts dies with it
  dup2(printed_fd, STDOUT_FILENO);
  dup2(printed_fd, STDERR_FILENO);
  int code = kNoResult;
  try {
    if (write_all(result_fd, work(index))) code = 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  std::fflush(nullptr);
  _exit(code);
}

Child start(std::size_t index, std::chrono::milliseconds limit,
            const std::function<std::string(std::size_t)>& work) {
  std::fflush(nullptr);  // or the child would print it again
  int fds[2] = {-1, -1};
  ATC_CHECK(pipe2(fds, O_CLOEXEC) == 0, std::string("cannot make a pipe: ") + std::strerror(errno));
  Child child;
  child.index = index;
  child.printed_fd = memfd_create("printed", MFD_CLOEXEC);
  ATC_CHECK(child.printed_fd >= 0, std::string("cannot make a memory file: ") + std::strerror(errno));
  child.pid = fork();
  ATC_CHECK(child.pid >= 0, std::string("cannot start a process: ") + std::strerror(errno));
  if (child.pid == 0) {
    close(fds[0]);
    child_main(index, fds[1], child.printed_fd, work);
  }
  setpgid(child.pid, child.pid);  // whichever of both comes first
  close(fds[1]);
  child.result_fd = fds[0];
  child.deadline = Clock::now() + limit;
  return child;
}

std::string last_line(int fd) {
  const off_t size = lseek(fd, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::clamp<off_t>(size, 0, 2000)), '\0');
  if (text.empty()) return {};
  const ssize_t n = pread(fd, text.data(), text.size(), size - static_cast<off_t>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t line = text.rfind('\n');
  return line == std::string::npos ? text : text.substr(line + 1);
}

IsolatedResult finish(Child& child, bool timed_out) {
  // Also on success: nothing that the work started outlives it.
  kill(-child.pid, SIGKILL);
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  IsolatedResult result;
  result.last_line = last_line(child.printed_fd);
  close(child.printed_fd);
  close(child.result_fd);
  if (timed_out) {
    result.end = End::TimedOut;
  } else if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    result.result = std::move(child.result);
  } else {
    result.end = End::Crashed;
    result.crash = WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status)) + " (" +
                                             strsignal(WTERMSIG(status)) + ")"
                                       : "exit code " + std::to_string(WEXITSTATUS(status));
  }
  return result;
}

/// Waits for the end of a child that has closed its pipe; false when its limit comes first. The child is
/// not reaped: its group can still be signalled safely.
bool exits(const Child& child) {
  for (;;) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
        info.si_pid != 0)
      return true;
    if (Clock::now() >= child.deadline) return false;
    usleep(200);
  }
}

/// Reads what there is; true at the end of file.
bool read_some(Child& child) {
  char buffer[65536];
  const ssize_t n = read(child.result_fd, buffer, sizeof buffer);
  if (n < 0) return errno != EINTR && errno != EAGAIN;
  child.result.append(buffer, static_cast<std::size_t>(n));
  return n == 0;
}

/// Waits until a child has something to say or a limit is reached.
void wait_for_news(const std::vector<Child>& children, std::vector<pollfd>& polls) {
  polls.clear();
  Clock::time_point next = Clock::time_point::max();
  for (const Child& child : children) {
    polls.push_back({child.result_fd, POLLIN, 0});
    next = std::min(next, child.deadline);
  }
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now()).count() + 1;
  poll(polls.data(), polls.size(), static_cast<int>(std::clamp<long long>(left, 0, 60000)));
}

}  // namespace

void run_isolated(std::size_t count, int jobs, std::chrono::milliseconds limit,
                  const std::function<std::string(std::size_t)>& work,
                  const std::function<void(std::size_t, const IsolatedResult&)>& done) {
  std::vector<Child> children;
  std::map<std::size_t, IsolatedResult> waiting;  // finished before an earlier one
  std::size_t started = 0, reported = 0;
  std::vector<pollfd> polls;
  while (reported < count) {
    while (started < count && children.size() < static_cast<std::size_t>(std::max(jobs, 1)))
      children.push_back(start(started++, limit, work));
    wait_for_news(children, polls);
    std::vector<Child> running;
    for (std::size_t i = 0; i < children.size(); ++i) {
      Child& child = children[i];
      const bool ended = (polls[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && read_some(child);
      const bool timed_out = ended ? !exits(child) : Clock::now() >= child.deadline;
      if (ended || timed_out)
        waiting.emplace(child.index, finish(child, timed_out));
      else
        running.push_back(std::move(child));
    }
    children = std::move(running);
    for (auto it = waiting.find(reported); it != waiting.end(); it = waiting.find(reported)) {
      done(reported++, it->second);
      waiting.erase(it);
    }
  }
}

}  // namespace atc::driver
