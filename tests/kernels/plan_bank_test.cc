#include "kernels/plan_bank.h"

#include <gtest/gtest.h>

#include "kernels/cube_matmul.h"
#include "kernels/harness.h"
#include "kernels/plan_choice.h"

namespace atc::kernels::testing {
namespace {

struct Product {
  MatMulSpec spec;
  std::vector<Operand> operands;
  Product(std::int64_t m, std::int64_t k, std::int64_t n) {
    spec.m = m;
    spec.k = k;
    spec.n = n;
    spec.a = {0, {}, k, 1};
    spec.b = {0, {}, 0, 1};
    spec.epilogue_operands = {{0, {}, n, 1}};
    const int acc = spec.epilogue.emit(VecOp::Acc, RegType::F32);
    spec.epilogue.store(0, RegType::F32, spec.epilogue.emit(VecOp::Relu, RegType::F32, acc));
    operands = {{0, 0, m * k * 2, DType::F16, false},
                {1, 0, ceil_div(k, 16) * ceil_div(n, 16) * 512, DType::F16, false},
                {2, 0, m * n * 2, DType::F16, true}};
  }
  Task task() const { return *make_matmul_task(spec, operands, chip()); }
};

TEST(PlanBank, TuningFindsPlansThatAreNoWorseAndLaterTasksTakeThem) {
  int better = 0;
  for (const auto& [m, k, n] :
       {std::array<std::int64_t, 3>{100, 700, 300}, {64, 1024, 96}, {16, 512, 1000}}) {
    const Product p(m, k, n);
    const Task usual = p.task();
    const std::string key = *plan_key(usual, chip());
    PlanBank tuned(true);
    Task best;
    {
      const PlanBankScope scope(tuned);
      best = p.task();
    }
    EXPECT_TRUE(tuned.taken(key));
    const BankEntry entry = *tuned.find(key);
    EXPECT_LE(entry.us, entry.default_us);
    better += entry.us < entry.default_us ? 1 : 0;
    EXPECT_EQ(entry.us < entry.default_us, best.params != usual.params);
    EXPECT_EQ(plan_key(best, chip()), key) << "the key does not depend on the tiles";

    PlanBank later;
    later.put(key, entry);
    {
      const PlanBankScope scope(later);
      EXPECT_EQ(p.task().params, best.params);
      EXPECT_TRUE(later.taken(key));
      const Product other(32, 64, 48);  // not in the bank
      EXPECT_FALSE(later.taken(*plan_key(other.task(), chip())));
    }
    EXPECT_EQ(p.task().params, usual.params) << "without the bank nothing has changed";
  }
  EXPECT_GT(better, 0);
}

TEST(PlanBank, RefusesPlansThatAreNoneOfTheTask) {
  const Product p(64, 1024, 96);
  const std::string key = *plan_key(p.task(), chip());
  PlanBank tuned(true);
  {
    const PlanBankScope scope(tuned);
    (void)p.task();
  }
  const BankEntry good = *tuned.find(key);
  const auto code = [&](void (*change)(BankEntry&)) {
    BankEntry bad = good;
    change(bad);
    PlanBank bank;
    bank.put(key, bad);
    const PlanBankScope scope(bank);
    const auto task = make_matmul_task(p.spec, p.operands, chip());
    return task.ok() ? std::string() : task.status().diagnostic().code;
  };
  EXPECT_EQ(code([](BankEntry&) {}), "");
  EXPECT_EQ(code([](BankEntry& e) { e.tile.m = 1 << 20; }), "E10001");
  EXPECT_EQ(code([](BankEntry& e) { e.a_buffers += 1000; }), "E10001");
  EXPECT_EQ(code([](BankEntry& e) { e.tile.k_slice += 1; }), "E10001");
  EXPECT_EQ(code([](BankEntry& e) { e.images = 2; }), "E10001");
  EXPECT_EQ(code([](BankEntry& e) { e.kernel = "cube_conv"; }), "E10001");
}

TEST(PlanBank, KeysTellTasksAndChipsApart) {
  const Task a = Product(64, 64, 64).task();
  EXPECT_EQ(plan_key(a, chip()), plan_key(Product(64, 64, 64).task(), chip()));
  EXPECT_NE(plan_key(a, chip()), plan_key(Product(64, 64, 80).task(), chip()));
  EXPECT_NE(plan_key(a, chip()), plan_key(a, chip("Ascend310P3")));
  Task other = a;
  other.kernel = "vector_program";
  EXPECT_FALSE(plan_key(other, chip()).has_value());
}

TEST(PlanBank, ScopesNest) {
  PlanBank outer, inner;
  EXPECT_EQ(current_plan_bank(), nullptr);
  {
    const PlanBankScope first(outer);
    {
      const PlanBankScope second(inner);
      EXPECT_EQ(current_plan_bank(), &inner);
    }
    EXPECT_EQ(current_plan_bank(), &outer);
  }
  EXPECT_EQ(current_plan_bank(), nullptr);
}

}  // namespace
}  // namespace atc::kernels::testing
