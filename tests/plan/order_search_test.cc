#include "plan/order_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>

#include "plan/order_methods.h"
#include "plan/order_parts.h"

namespace atc::plan {
namespace {

/// Builds problems task by task: what a task reads, and the sizes of what it makes.
class Maker {
 public:
  /// Returns the buffer that the task makes, of `bytes`; 0 makes none (its result is an output of the model).
  int task(const std::vector<int>& reads, std::int64_t bytes, int in_place_of = -1) {
    const int t = static_cast<int>(problem_.tasks.size());
    OrderProblem::Task& task = problem_.tasks.emplace_back();
    for (const int b : reads) {
      task.buffers.push_back(b);
      task.before.push_back(makers_[static_cast<std::size_t>(b)]);
      problem_.buffers[static_cast<std::size_t>(b)].users.push_back(t);
    }
    int made = -1;
    if (bytes > 0) {
      made = static_cast<int>(problem_.buffers.size());
      problem_.buffers.push_back({bytes, {t}, false, false});
      makers_.push_back(t);
      task.buffers.push_back(made);
      if (in_place_of >= 0) task.in_place.push_back({in_place_of, made});
    }
    for (auto* list : {&task.buffers, &task.before}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    for (const int earlier : task.before)
      problem_.tasks[static_cast<std::size_t>(earlier)].after.push_back(t);
    return made;
  }
  const OrderProblem& problem() const { return problem_; }

 private:
  OrderProblem problem_;
  std::vector<int> makers_;  // [buffer]
};

/// Live bytes by the definition: a buffer is in use from its first user to its last, an update in place
/// counts once.
std::int64_t peak_by_definition(const OrderProblem& problem, const std::vector<int>& order) {
  std::vector<std::size_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[static_cast<std::size_t>(order[i])] = i;
  std::int64_t peak = problem.base;
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::int64_t live = problem.base;
    std::vector<std::size_t> first, last;
    for (const OrderProblem::Buffer& b : problem.buffers) {
      std::size_t low = order.size(), high = 0;
      for (const int user : b.users) {
        low = std::min(low, place[static_cast<std::size_t>(user)]);
        high = std::max(high, place[static_cast<std::size_t>(user)]);
      }
      if (b.used_before) low = 0;
      if (b.used_after) high = order.size();
      first.push_back(low);
      last.push_back(high);
      if (low <= i && i <= high) live += b.bytes;
    }
    // Tests have one pair a task at most, so no choice is to be made.
    for (const OrderProblem::InPlace& pair : problem.tasks[static_cast<std::size_t>(order[i])].in_place)
      if (last[static_cast<std::size_t>(pair.from)] == i && first[static_cast<std::size_t>(pair.to)] == i)
        live -= problem.buffers[static_cast<std::size_t>(pair.to)].bytes;
    peak = std::max(peak, live);
  }
  return peak;
}

std::vector<int> own_order(const OrderProblem& problem) {
  std::vector<int> order(problem.tasks.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// The least peak of all legal orders, by trying them all.
void try_all(const OrderProblem& problem, std::vector<int>& order, std::vector<bool>& used,
             std::int64_t& best) {
  if (order.size() == problem.tasks.size()) {
    best = std::min(best, peak_by_definition(problem, order));
    return;
  }
  for (std::size_t t = 0; t < problem.tasks.size(); ++t) {
    const auto& before = problem.tasks[t].before;
    if (used[t] ||
        !std::all_of(before.begin(), before.end(), [&](int b) { return used[static_cast<std::size_t>(b)]; }))
      continue;
    used[t] = true;
    order.push_back(static_cast<int>(t));
    try_all(problem, order, used, best);
    order.pop_back();
    used[t] = false;
  }
}
std::int64_t least_peak(const OrderProblem& problem) {
  std::vector<int> order;
  std::vector<bool> used(problem.tasks.size(), false);
  std::int64_t best = INT64_MAX;
  try_all(problem, order, used, best);
  return best;
}

OrderProblem random_problem(unsigned seed, int tasks) {
  std::mt19937 rng(seed);
  const auto between = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); };
  Maker m;
  std::vector<std::pair<int, std::int64_t>> made;
  for (int t = 0; t < tasks; ++t) {
    std::vector<int> reads;
    if (!made.empty() && between(0, 4) > 0)
      for (int k = between(1, 3); k-- > 0;)
        reads.push_back(
            made[made.size() - 1 -
                 static_cast<std::size_t>(between(0, std::min<int>(5, static_cast<int>(made.size()) - 1)))]
                .first);
    std::sort(reads.begin(), reads.end());
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    std::int64_t bytes = 64 * between(1, 20);
    int update = -1;
    if (!reads.empty() && between(0, 2) == 0) {
      update = reads[0];
      bytes = m.problem().buffers[static_cast<std::size_t>(update)].bytes;
    }
    if (between(0, 9) == 0) bytes = 0;
    const int b = m.task(reads, bytes, update);
    if (b >= 0) made.emplace_back(b, bytes);
  }
  return m.problem();
}

TEST(ChooseOrder, AsGoodAsAnyOrderOfSmallProblems) {
  int improved = 0;
  for (unsigned seed = 0; seed < 250; ++seed) {
    const OrderProblem problem = random_problem(seed, 3 + static_cast<int>(seed % 6));
    const ChosenOrder chosen = choose_order(problem);
    SCOPED_TRACE(seed);
    ASSERT_TRUE(is_legal(problem, chosen.order));
    EXPECT_EQ(chosen.peak, peak_by_definition(problem, chosen.order));
    EXPECT_EQ(chosen.model_peak, peak_by_definition(problem, own_order(problem)));
    EXPECT_EQ(chosen.peak, least_peak(problem));
    EXPECT_LE(chosen.task_bound, chosen.peak);
    improved += chosen.peak < chosen.model_peak ? 1 : 0;
  }
  EXPECT_GT(improved, 30);
}

TEST(ChooseOrder, NeverWorseThanTheModelsOwnAndDeterministic) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const OrderProblem problem = random_problem(1000 + seed, 120);
    const ChosenOrder chosen = choose_order(problem);
    ASSERT_TRUE(is_legal(problem, chosen.order));
    EXPECT_EQ(chosen.peak, peak_by_definition(problem, chosen.order));
    EXPECT_LE(chosen.peak, chosen.model_peak);
    EXPECT_GE(chosen.peak, chosen.task_bound);
    EXPECT_EQ(choose_order(problem).order, chosen.order);
  }
}

// Two branches: the one whose result is small first, or both of the wide middles are there at once.
TEST(ChooseOrder, FinishesABranchBeforeTheNextOneBegins) {
  Maker m;
  const int x = m.task({}, 64);
  const int wide1 = m.task({x}, 6400), wide2 = m.task({x}, 6400);
  const int small1 = m.task({wide1}, 64), small2 = m.task({wide2}, 64);
  m.task({small1, small2}, 0);
  const ChosenOrder chosen = choose_order(m.problem());
  EXPECT_EQ(chosen.model_peak, 64 + 2 * 6400);
  EXPECT_EQ(chosen.peak, 64 + 6400 + 64);
}

TEST(ChooseOrder, KeepsTheModelsOrderWhereNothingIsWon) {
  Maker m;
  int x = m.task({}, 640);
  for (int i = 0; i < 20; ++i) x = m.task({x}, 640);
  const ChosenOrder chosen = choose_order(m.problem());
  EXPECT_EQ(chosen.order, own_order(m.problem()));
  EXPECT_EQ(chosen.peak, 1280);
  EXPECT_EQ(chosen.task_bound, 1280);
}

TEST(ChooseOrder, UpdatesInPlaceCountOnce) {
  Maker m;
  int x = m.task({}, 640);
  for (int i = 0; i < 20; ++i) x = m.task({x}, 640, x);
  const ChosenOrder chosen = choose_order(m.problem());
  EXPECT_EQ(chosen.peak, 640);
  EXPECT_EQ(chosen.task_bound, 640);
}

// An update is only possible after the other reader: the order that allows it is found.
TEST(ChooseOrder, RunsTheOtherReaderOfAnUpdatedBufferFirst) {
  Maker m;
  const int x = m.task({}, 6400);
  const int y = m.task({x}, 6400, x);
  const int small = m.task({x}, 64);
  m.task({y, small}, 0);
  const ChosenOrder chosen = choose_order(m.problem());
  EXPECT_EQ(chosen.model_peak, 2 * 6400 + 64);
  EXPECT_EQ(chosen.peak, 6400 + 64);
}

TEST(ChooseOrder, ChainsAndFansOfManyTasksTakeLittleTime) {
  Maker chain;
  int x = chain.task({}, 64);
  for (int i = 1; i < 20000; ++i) x = chain.task({x}, 64 + 64 * (i % 7));
  Maker fan;
  const int root = fan.task({}, 64);
  std::vector<int> leaves;
  for (int i = 0; i < 10000; ++i) leaves.push_back(fan.task({fan.task({root}, 6400)}, 64));
  fan.task(leaves, 0);
  // Blocks of branches, as many networks have them.
  Maker blocks;
  x = blocks.task({}, 640);
  for (int i = 0; i < 1000; ++i) {
    std::vector<int> ends;
    for (int k = 0; k < 5; ++k) ends.push_back(blocks.task({blocks.task({x}, 6400)}, 640));
    x = blocks.task(ends, 640);
  }
  for (const OrderProblem* problem : {&chain.problem(), &fan.problem(), &blocks.problem()}) {
    const auto start = std::chrono::steady_clock::now();
    const ChosenOrder chosen = choose_order(*problem);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_TRUE(is_legal(*problem, chosen.order));
    EXPECT_LE(chosen.peak, chosen.model_peak);
    EXPECT_LT(took.count(), 5.0);  // far above what it takes: a quadratic method would take minutes
  }
}

TEST(SearchOrder, TellsFoundFromImpossibleFromGivenUp) {
  const OrderProblem problem = random_problem(7, 8);
  const std::int64_t least = least_peak(problem);
  std::vector<int> order;
  SearchBudget budget{1'000'000};
  EXPECT_EQ(search_order(problem, least, budget, order), SearchEnd::Found);
  EXPECT_EQ(peak_by_definition(problem, order), least);
  EXPECT_EQ(search_order(problem, least - 1, budget, order), SearchEnd::Impossible);
  SearchBudget none{1};
  EXPECT_EQ(search_order(problem, least, none, order), SearchEnd::GaveUp);
}

TEST(ListSchedule, LegalInBothDirections) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    const OrderProblem problem = random_problem(seed, 60), backwards = reversed(problem);
    for (const ListRule rule : {ListRule::Growth, ListRule::Depth}) {
      EXPECT_TRUE(is_legal(problem, list_schedule(problem, rule)));
      std::vector<int> order = list_schedule(backwards, rule);
      EXPECT_TRUE(is_legal(backwards, order));
      const std::int64_t peak = peak_of(backwards, order);
      for (int& t : order) t = static_cast<int>(order.size()) - 1 - t;
      std::reverse(order.begin(), order.end());
      EXPECT_TRUE(is_legal(problem, order));
      EXPECT_EQ(peak_of(problem, order), peak);
    }
  }
}

TEST(OrderParts, PartsAreWholeAndStandAlone) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const OrderProblem problem = random_problem(seed, 40);
    const OrderParts parts(problem);
    std::vector<int> order;
    for (std::size_t p = 0; p < parts.count(); ++p) {
      const std::vector<int> tasks = parts.tasks(p);
      order.insert(order.end(), tasks.begin(), tasks.end());
      const OrderProblem part = parts.problem(p);
      EXPECT_EQ(peak_by_definition(part, own_order(part)), parts.peak(p));
    }
    EXPECT_TRUE(is_legal(problem, order));
    EXPECT_LE(peak_of(problem, order), peak_of(problem, own_order(problem)));
  }
}

TEST(OrderParts, ATaskThatAllOthersMeetEndsAPart) {
  Maker m;
  const int x = m.task({}, 64);
  const int a = m.task({x}, 64), b = m.task({x}, 64);
  const int joined = m.task({a, b}, 64);
  const int late = m.task({}, 64);  // waits for nothing, and feeds one task
  m.task({joined, late}, 0);
  const OrderParts parts(m.problem());
  ASSERT_EQ(parts.count(), 4U);
  EXPECT_EQ(parts.tasks(0), (std::vector<int>{0}));
  EXPECT_EQ(parts.tasks(1), (std::vector<int>{1, 2}));
  EXPECT_EQ(parts.tasks(2), (std::vector<int>{3}));
  EXPECT_EQ(parts.tasks(3), (std::vector<int>{4, 5}));
}

TEST(Match, AsManyPairsAsPossible) {
  // A greedy choice of (0, 10) would leave 1 without a partner.
  const auto pairs = match({{0, 10}, {0, 11}, {1, 10}});
  EXPECT_EQ(pairs.size(), 2U);
}

}  // namespace
}  // namespace atc::plan
