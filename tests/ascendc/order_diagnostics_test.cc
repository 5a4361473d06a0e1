// Pipes and cores that touch the same bytes without an order, and cores that wait for nobody.
#include "ascendc/diagnostics_testing.h"

namespace {

TEST(Diagnostics, RacesBetweenPipes) {
  std::vector<float> x(64, 1.0f), y(64);
  const Outcome raw = launcher([](void* const* a) {
                        TPipe pipe;
                        Scratch work;
                        pipe.InitBuffer(work, 256);
                        auto t = work.Get<float>();
                        DataCopy(t, global(a[0]), 64);
                        MARK;
                        Adds(t, t, 1.0f, 64);
                        PipeBarrier<PIPE_ALL>();
                        DataCopy(global(a[1]), t, 64);
                      })
                          .arg(x, "x")
                          .arg(y, "y")
                          .run();
  expect_at(
      raw, "race",
      "Adds reads buffer 'work' (VECCALC) at byte 0 on pipe VECTOR while what order_diagnostics_test.cc:");
  const Outcome war = launcher([](void* const* a) {
                        TPipe pipe;
                        Scratch work;
                        pipe.InitBuffer(work, 256);
                        auto t = work.Get<float>();
                        Duplicate(t, 1.0f, 64);
                        SetFlag<HardEvent::V_MTE3>(0);
                        WaitFlag<HardEvent::V_MTE3>(0);
                        DataCopy(global(a[1]), t, 64);
                        MARK;
                        Duplicate(t, 2.0f, 64);
                      })
                          .arg(x, "x")
                          .arg(y, "y")
                          .run();
  expect_at(war, "race", "reads there on pipe MTE3");
  const Outcome scalar = launcher([](void* const*) {
                           TPipe pipe;
                           Scratch work;
                           pipe.InitBuffer(work, 256);
                           auto t = work.Get<float>();
                           Duplicate(t, 1.0f, 64);
                           MARK;
                           t.GetValue(0);
                         }).run();
  expect_at(scalar, "race", "from VECTOR to SCALAR", false);
}

TEST(Diagnostics, RacesThroughGlobalMemory) {
  std::vector<float> x(64, 1.0f), y(256);
  const Outcome read = launcher([](void* const* a) {
                         TPipe pipe;
                         Scratch work;
                         pipe.InitBuffer(work, 512);
                         auto t = work.Get<float>();
                         Duplicate(t, 1.0f, 64);
                         SetFlag<HardEvent::V_MTE3>(0);
                         WaitFlag<HardEvent::V_MTE3>(0);
                         DataCopy(global(a[1]), t, 64);
                         MARK;
                         DataCopy(t[64], global(a[1])[32], 64);
                       })
                           .arg(x, "x")
                           .arg(y, "y")
                           .run();
  expect_at(read, "race", "DataCopy reads GlobalTensor");
  EXPECT_THAT(find(read, "race").text,
              HasSubstr("(y, byte 128 of 1024) on pipe MTE2 while what order_diagnostics_test"));
  EXPECT_THAT(find(read, "race").text, HasSubstr("flag from MTE3 to MTE2"));
  const Outcome write = launcher([](void* const* a) {
                          TPipe pipe;
                          Scratch work;
                          pipe.InitBuffer(work, 512);
                          auto t = work.Get<float>();
                          Duplicate(t, 1.0f, 64);
                          SetFlag<HardEvent::V_MTE3>(0);
                          WaitFlag<HardEvent::V_MTE3>(0);
                          DataCopy(t[64], global(a[0]), 64);
                          MARK;
                          DataCopy(global(a[0]), t, 64);
                        })
                            .arg(x, "x")
                            .run();
  expect_at(write, "race", "reads there on pipe MTE2");
  // Rows between each other's: the second column of four is read, the third is written.
  const auto columns = [](void* const* a) {
    TPipe pipe;
    Scratch work;
    pipe.InitBuffer(work, 1024);
    auto t = work.Get<float>();
    Duplicate(t, 1.0f, 64);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    const bool same = *static_cast<float*>(a[0]) != 0.0f;
    DataCopy(global(a[1])[16], t, DataCopyParams(8, 1, 0, 3));
    MARK;
    DataCopy(t[64], global(a[1])[same ? 16 : 8], DataCopyParams(8, 1, 3, 0));
  };
  expect_at(launcher(columns).arg(x, "x").arg(y, "y").run(), "race", "nothing orders them in Global Memory");
  x[0] = 0.0f;
  launcher(columns).arg(x, "x").arg(y, "y").clean();
}

TEST(Diagnostics, GlobalMemoryInOrderIsClean) {
  std::vector<float> x(64, 1.0f), y(64);
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch work;
    pipe.InitBuffer(work, 512);
    auto t = work.Get<float>();
    Duplicate(t, 1.0f, 64);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    for (int i = 0; i < 3; ++i) {
      DataCopy(global(a[1]), t, 64);
      if (i == 1) {
        PipeBarrier<PIPE_ALL>();
      } else {
        SetFlag<HardEvent::MTE3_MTE2>(1);
        WaitFlag<HardEvent::MTE3_MTE2>(1);
      }
      DataCopy(t[64], global(a[1]), 64);
      SetFlag<HardEvent::MTE2_MTE3>(2);
      WaitFlag<HardEvent::MTE2_MTE3>(2);
    }
    PipeBarrier<PIPE_ALL>();
  })
      .arg(x, "x")
      .arg(y, "y")
      .clean();
  // In place by queues: what was read is written back behind the vector unit.
  launcher([](void* const* a) {
    TPipe pipe;
    Vecin in;
    Vecout out;
    pipe.InitBuffer(in, 2, 32);
    pipe.InitBuffer(out, 2, 32);
    for (int i = 0; i < 8; ++i) {
      auto t = in.AllocTensor<float>();
      DataCopy(t, global(a[0])[i * 8], 8);
      in.EnQue(t);
      t = in.DeQue<float>();
      auto r = out.AllocTensor<float>();
      Adds(r, t, 1.0f, 8);
      in.FreeTensor(t);
      out.EnQue(r);
      r = out.DeQue<float>();
      DataCopy(global(a[0])[i * 8], r, 8);
      out.FreeTensor(r);
    }
  })
      .arg(x, "x")
      .clean();
  EXPECT_EQ(x, std::vector<float>(64, 2.0f));
}

TEST(Diagnostics, TwoCoresThatWriteTheSameBytes) {
  std::vector<float> y(256);
  const auto kernel = [](void* const* a) {
    TPipe pipe;
    Scratch work;
    pipe.InitBuffer(work, 256);
    auto t = work.Get<float>();
    Duplicate(t, 1.0f, 64);
    PipeBarrier<PIPE_ALL>();
    MARK;
    DataCopy(global(a[0])[GetBlockIdx() * 32], t, 64);
  };
  const Outcome o = launcher(kernel).arg(y, "y").blocks(2).run();
  expect_at(o, "core-conflict", "both write bytes 128 to 256 of y");
  // Atomics may meet.
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch work;
    pipe.InitBuffer(work, 256);
    auto t = work.Get<float>();
    Duplicate(t, 1.0f, 64);
    PipeBarrier<PIPE_ALL>();
    SetAtomicAdd<float>();
    DataCopy(global(a[0]), t, 64);
    SetAtomicNone();
  })
      .arg(y, "y")
      .blocks(4)
      .clean();
}

TEST(Diagnostics, ScalarStoresOfTwoCoresToOneCacheLine) {
  std::vector<float> y(64);
  alignas(64) static float lines[64];
  (void)y;
  struct Lines {
    float v[64];
  };
  const Outcome o = launcher([](void* const* a) {
                      MARK;
                      global(a[0]).SetValue(GetBlockIdx(), 1.0f);
                    })
                        .object(*reinterpret_cast<Lines*>(lines), "y")
                        .blocks(2)
                        .run();
  expect_at(o, "core-conflict", "store scalars to one cache line");
}

TEST(Diagnostics, SyncAllThatNobodyAnswers) {
  const Outcome alone = launcher([](void* const*) {
                          KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
                          MARK;
                          SyncAll();
                        })
                            .blocks(4)
                            .run();
  expect_at(alone, "sync-all", "the kernel type is KERNEL_TYPE_AIV_ONLY");
  const Outcome many = launcher([](void* const*) {
                         KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
                         MARK;
                         SyncAll();
                       })
                           .blocks(41)
                           .run();
  expect_at(many, "sync-all", "41 blocks are launched, Ascend910B3 runs 40 of them at once");
  const Outcome some = launcher([](void* const*) {
                         KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
                         MARK;
                         if (GetBlockIdx() != 2) SyncAll();
                       })
                           .blocks(4)
                           .run();
  expect_at(some, "deadlock", "waits for SyncAll of block 2");
  const Outcome flag = launcher([](void* const*) {
                         KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
                         if ASCEND_IS_AIC {
                           MARK;
                           CrossCoreWaitFlag(5);
                         }
                       })
                           .blocks(1)
                           .run();
  expect_at(flag, "deadlock", "cross-core flag 5");
}

}  // namespace
