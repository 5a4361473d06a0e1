// Each fault a kernel can have is named with its line, and the kernel that has none with nothing.
#include "ascendc/diagnostics_testing.h"

namespace {

TEST(Diagnostics, DataCopyThatIsRoundedDown) {
  std::vector<float> x(100, 1.0f);
  const Outcome o = launcher([](void* const* a) {
                      TPipe pipe;
                      Vecin inQueueX;
                      pipe.InitBuffer(inQueueX, 1, 512);
                      auto t = inQueueX.AllocTensor<float>();
                      MARK;
                      DataCopy(t, global(a[0]), 99);
                      inQueueX.FreeTensor(t);
                    })
                        .arg(x, "x")
                        .run();
  expect_at(o, "copy-length", "99 elements of float is 396 bytes");
  EXPECT_THAT(find(o, "copy-length").text,
              HasSubstr("the last 12 bytes (3 elements) are dropped. queue 'inQueueX' (VECIN)"));
  EXPECT_FALSE(o.ok());
}

TEST(Diagnostics, SliceThatStartsBetweenBlocks) {
  std::vector<float> x(64);
  const Outcome o = launcher([](void* const*) {
                      TPipe pipe;
                      Scratch work;
                      pipe.InitBuffer(work, 1024);
                      auto t = work.Get<float>();
                      Duplicate(t, 1.0f, 256);
                      MARK;
                      Adds(t[128], t[3], 1.0f, 16);
                    })
                        .arg(x, "x")
                        .run();
  expect_at(o, "operand-alignment", "buffer 'work' (VECCALC) at byte 12");
}

TEST(Diagnostics, UnifiedBufferOverflowListsTheBuffers) {
  const Outcome o = launcher([](void* const*) {
                      TPipe pipe;
                      Vecin first;
                      Vecout second;
                      pipe.InitBuffer(first, 2, 64 * 1024);
                      MARK;
                      pipe.InitBuffer(second, 2, 48 * 1024);
                    }).run();
  expect_at(o, "buffer-overflow", "98304 bytes are asked for, 65536 of 196608 are free");
  EXPECT_THAT(find(o, "buffer-overflow").text, HasSubstr("queue 'first' (VECIN): 2 x 65536 bytes"));
  EXPECT_THAT(find(o, "buffer-overflow").text, HasSubstr("'second' (refused): 2 x 49152 bytes"));
}

TEST(Diagnostics, L1AndL0Overflow) {
  const Outcome o = launcher([](void* const*) {
                      TPipe pipe;
                      TQue<TPosition::A2, 1> a;
                      MARK;
                      pipe.InitBuffer(a, 2, 48 * 1024);
                    }).run();
  expect_at(o, "buffer-overflow", "L0A overflow");
}

TEST(Diagnostics, QueueMisuse) {
  const Outcome freed = launcher([](void* const*) {
                          TPipe pipe;
                          Vecin q;
                          pipe.InitBuffer(q, 1, 64);
                          auto t = q.AllocTensor<float>();
                          q.FreeTensor(t);
                          MARK;
                          q.FreeTensor(t);
                        }).run();
  expect_at(freed, "queue-state", "of a tensor that is free since diagnostics_test.cc:");
  const Outcome enqueued = launcher([](void* const*) {
                             TPipe pipe;
                             Vecin q;
                             pipe.InitBuffer(q, 1, 64);
                             auto t = q.AllocTensor<float>();
                             q.FreeTensor(t);
                             MARK;
                             q.EnQue(t);
                           }).run();
  expect_at(enqueued, "queue-state", "EnQue to queue 'q' (VECIN) of a tensor that is free");
  const Outcome empty = launcher([](void* const*) {
                          TPipe pipe;
                          Vecin q;
                          pipe.InitBuffer(q, 1, 64);
                          MARK;
                          auto t = q.DeQue<float>();
                          q.FreeTensor(t);
                        }).run();
  expect_at(empty, "queue-state", "waits for ever: nothing is enqueued");
  const Outcome kept = launcher([](void* const*) {
                         TPipe pipe;
                         Vecin q;
                         pipe.InitBuffer(q, 1, 64);
                         for (int i = 0; i < 2; ++i) {
                           MARK;
                           auto t = q.AllocTensor<float>();
                           (void)t;
                         }
                       }).run();
  expect_at(kept, "queue-state", "FreeTensor is missing");
  const Outcome unset = launcher([](void* const*) {
                          TPipe pipe;
                          Vecin q;
                          MARK;
                          auto t = q.AllocTensor<float>();
                          (void)t;
                        }).run();
  expect_at(unset, "queue-state", "InitBuffer has not set up");
  const Outcome left = launcher([](void* const*) {
                         TPipe pipe;
                         Vecin q;
                         pipe.InitBuffer(q, 1, 64);
                         MARK;
                         auto t = q.AllocTensor<float>();
                         (void)t;
                       }).run();
  expect_at(left, "queue-state", "allocated and never freed", false);
}

TEST(Diagnostics, MoreLiveBuffersThanEvents) {
  const Outcome o = launcher([](void* const*) {
                      TPipe pipe;
                      Vecin first, second;
                      pipe.InitBuffer(first, 5, 64);
                      pipe.InitBuffer(second, 5, 64);
                      for (int i = 0; i < 4; ++i) first.AllocTensor<float>();
                      for (int i = 0; i < 5; ++i) {
                        MARK;
                        second.AllocTensor<float>();
                      }
                    }).run();
  expect_at(o, "live-buffers", "9 buffers of position VECIN are in use, 8 events");
  EXPECT_THAT(find(o, "live-buffers").text, HasSubstr("queue 'first' (VECIN): 4, queue 'second' (VECIN): 5"));
}

TEST(Diagnostics, Flags) {
  const Outcome twice = launcher([](void* const*) {
                          SetFlag<HardEvent::MTE2_V>(0);
                          MARK;
                          SetFlag<HardEvent::MTE2_V>(0);
                          WaitFlag<HardEvent::MTE2_V>(0);
                        }).run();
  expect_at(twice, "flag", "which is set since diagnostics_test.cc:");
  const Outcome never = launcher([](void* const*) {
                          SetFlag<HardEvent::V_MTE3>(1);
                          MARK;
                          WaitFlag<HardEvent::V_MTE3>(2);
                        }).run();
  expect_at(never, "flag", "waits for ever: no SetFlag comes before it; set are event 1");
  const Outcome left = launcher([](void* const*) {
                         MARK;
                         SetFlag<HardEvent::MTE3_MTE2>(3);
                       }).run();
  expect_at(left, "flag", "set and never waited for");
  const Outcome number = launcher([](void* const*) {
                           MARK;
                           SetFlag<HardEvent::MTE3_MTE2>(8);
                         }).run();
  expect_at(number, "flag", "0 to 7 exist");
}

TEST(Diagnostics, QueuesOfOneLineHaveTheirOwnNames) {
  const Outcome o = launcher([](void* const*) {
                      TPipe pipe;
                      Vecin first;
                      Vecout second;
                      // clang-format off
                      pipe.InitBuffer(first, 1, 256); pipe.InitBuffer(second, 1, 256);
                      // clang-format on
                      auto t = first.AllocTensor<float>();
                      MARK;
                      second.FreeTensor(t);
                    }).run();
  expect_at(o, "queue-state", "queue 'second' (VECOUT)");
}

TEST(Diagnostics, UninitialisedBytesThatReachMemory) {
  std::vector<float> x(64, 1.0f), y(64);
  const Outcome o = launcher([](void* const* a) {
                      TPipe pipe;
                      Vecin in;
                      Vecout out;
                      pipe.InitBuffer(in, 1, 256);
                      pipe.InitBuffer(out, 1, 256);
                      auto t = in.AllocTensor<float>();
                      DataCopy(t, global(a[0]), 32);
                      in.EnQue(t);
                      t = in.DeQue<float>();
                      auto r = out.AllocTensor<float>();
                      Adds(r, t, 1.0f, 64);  // the second half was never read
                      in.FreeTensor(t);
                      out.EnQue(r);
                      r = out.DeQue<float>();
                      MARK;
                      DataCopy(global(a[1]), r, 64);
                      out.FreeTensor(r);
                    })
                        .arg(x, "x")
                        .arg(y, "y")
                        .run();
  expect_at(o, "uninitialised", "from byte 128 of the tensor on");
  // The hardware fills a padded block with anything: that is fine as long as it goes nowhere.
  launcher([](void* const* a) {
    TPipe pipe;
    Vecin in;
    Vecout out;
    pipe.InitBuffer(in, 1, 256);
    pipe.InitBuffer(out, 1, 256);
    auto t = in.AllocTensor<float>();
    DataCopyPad(t, global(a[0]), {1, 20, 0, 0, 0}, {false, 0, 0, 0.0f});
    in.EnQue(t);
    t = in.DeQue<float>();
    auto r = out.AllocTensor<float>();
    Adds(r, t, 1.0f, 8);
    in.FreeTensor(t);
    out.EnQue(r);
    r = out.DeQue<float>();
    DataCopyPad(global(a[1]), r, {1, 20, 0, 0, 0});
    out.FreeTensor(r);
  })
      .arg(x, "x")
      .arg(y, "y")
      .clean();
}

TEST(Diagnostics, GlobalMemoryOutOfBounds) {
  std::vector<float> x(100, 1.0f);
  const Outcome beyond = launcher([](void* const* a) {
                           TPipe pipe;
                           Vecin in;
                           pipe.InitBuffer(in, 1, 512);
                           auto t = in.AllocTensor<float>();
                           GlobalTensor<float> xGm;
                           xGm.SetGlobalBuffer((__gm__ float*)a[0] + 40);
                           MARK;
                           DataCopy(t, xGm, 64);
                           in.FreeTensor(t);
                         })
                             .arg(x, "input 'x'")
                             .run();
  expect_at(beyond, "gm-bounds", "reaches bytes 160 to 416 of input 'x', which has 400");
  EXPECT_THAT(find(beyond, "gm-bounds").text, HasSubstr("GlobalTensor 'xGm'"));
  const Outcome declared = launcher([](void* const* a) {
                             TPipe pipe;
                             Vecin in;
                             pipe.InitBuffer(in, 1, 512);
                             auto t = in.AllocTensor<float>();
                             GlobalTensor<float> xGm;
                             xGm.SetGlobalBuffer((__gm__ float*)a[0], 32);
                             MARK;
                             DataCopy(t, xGm, 64);
                             in.FreeTensor(t);
                           })
                               .arg(x, "x")
                               .run();
  expect_at(declared, "gm-bounds", "128 bytes behind what SetGlobalBuffer said", false);
  const Outcome null = launcher([](void* const* a) {
                         MARK;
                         global(a[0]).GetValue(0);
                       })
                           .scalar(static_cast<float*>(nullptr))
                           .run();
  expect_at(null, "gm-bounds", "the address in Global Memory is null");
}

TEST(Diagnostics, CountBeyondTheTensor) {
  const Outcome o = launcher([](void* const*) {
                      TPipe pipe;
                      Scratch work, other;
                      pipe.InitBuffer(work, 256);
                      pipe.InitBuffer(other, 256);
                      auto t = work.Get<float>();
                      MARK;
                      Duplicate(t, 1.0f, 65);
                    }).run();
  expect_at(o, "tensor-bounds", "touches bytes 0 to 260 of a tensor of 256 bytes");
}

TEST(Diagnostics, MasksRepeatsAndCounts) {
  const Outcome mask = launcher([](void* const*) {
                         TPipe pipe;
                         Scratch work;
                         pipe.InitBuffer(work, 1024);
                         auto t = work.Get<float>();
                         Duplicate(t, 1.0f, 256);
                         MARK;
                         Adds(t, t, 1.0f, 65, 1, {1, 1, 8, 8});
                       }).run();
  expect_at(mask, "mask", "mask 65, elements of 4 bytes have 1 to 64 lanes");
  const Outcome repeat = launcher([](void* const*) {
                           TPipe pipe;
                           Scratch work;
                           pipe.InitBuffer(work, 128 * 1024);
                           auto t = work.Get<float>();
                           Duplicate(t, 1.0f, 32 * 1024);
                           MARK;
                           WholeReduceSum(t, t, 8, 256, 1, 1, 1);
                         }).run();
  expect_at(repeat, "repeat", "256 repeats");
  const Outcome compare = launcher([](void* const*) {
                            TPipe pipe;
                            Scratch work, bits;
                            pipe.InitBuffer(work, 1024);
                            pipe.InitBuffer(bits, 64);
                            auto t = work.Get<float>();
                            Duplicate(t, 1.0f, 256);
                            MARK;
                            CompareScalar(bits.Get<uint8_t>(), t, 1.0f, CMPMODE::LT, 100);
                          }).run();
  expect_at(compare, "count", "must fill whole repeats of 256 bytes (a multiple of 64 elements)");
  const Outcome type = launcher([](void* const*) {
                         TPipe pipe;
                         Scratch work, bits;
                         pipe.InitBuffer(work, 1024);
                         pipe.InitBuffer(bits, 64);
                         auto t = work.Get<int32_t>();
                         Duplicate(t, 1, 256);
                         MARK;
                         Compare(bits.Get<uint8_t>(), t, t, CMPMODE::LT, 64);
                       }).run();
  expect_at(type, "dtype", "CMPMODE::EQ only");
}

TEST(Diagnostics, OperandsThatOverlap) {
  const Outcome o = launcher([](void* const*) {
                      TPipe pipe;
                      Scratch work;
                      pipe.InitBuffer(work, 1024);
                      auto t = work.Get<float>();
                      Duplicate(t, 1.0f, 256);
                      MARK;
                      Adds(t[8], t, 1.0f, 128);
                    }).run();
  expect_at(o, "operand-overlap", "Operands must be the same or apart");
}

TEST(Diagnostics, TailsThatNobodyHandles) {
  std::vector<float> y(100);
  const auto kernel = [](void* const* a) {
    TPipe pipe;
    Scratch work;
    pipe.InitBuffer(work, 256);
    auto t = work.Get<float>();
    Duplicate(t, 1.0f, 64);
    PipeBarrier<PIPE_ALL>();
    for (uint32_t i = 0; i < 100 / 32; ++i) DataCopy(global(a[0])[i * 32], t, 32);
  };
  const Outcome o = launcher(kernel).output(y, "output 'y'").run();
  const Diagnostic d =
      find(o, "unwritten-output",
           "16 of 400 bytes of output 'y' were never written, the first are bytes 384 to 400");
  EXPECT_FALSE(d.error);
}

TEST(Diagnostics, ASecondPipeBeginsWithAllMemory) {
  std::vector<float> y(64);
  launcher([](void* const* a) {
    for (int i = 0; i < 2; ++i) {
      TPipe pipe;
      Scratch work;
      pipe.InitBuffer(work, 160 * 1024);
      auto t = work.Get<float>();
      Duplicate(t, 1.0f + i, 64);
      PipeBarrier<PIPE_ALL>();
      DataCopy(global(a[0]), t, 64);
    }
  })
      .output(y, "y")
      .clean();
  EXPECT_EQ(y[63], 2.0f);
}

TEST(Diagnostics, ModesThatStayOn) {
  const Outcome o = launcher([](void* const*) {
                      MARK;
                      SetAtomicAdd<float>();
                    }).run();
  expect_at(o, "mode-left-on", "SetAtomicNone is missing", false);
  const Outcome counter = launcher([](void* const*) {
                            MARK;
                            SetMaskCount();
                          }).run();
  expect_at(counter, "mode-left-on", "SetMaskNorm is missing", false);
}

TEST(Diagnostics, ScalarStoreStillInTheCache) {
  std::vector<float> y(64);
  const Outcome o = launcher([](void* const* a) {
                      TPipe pipe;
                      Vecin in;
                      pipe.InitBuffer(in, 1, 256);
                      auto t = in.AllocTensor<float>();
                      global(a[0]).SetValue(3, 1.0f);
                      MARK;
                      DataCopy(t, global(a[0]), 64);
                      in.FreeTensor(t);
                    })
                        .arg(y, "y")
                        .run();
  expect_at(o, "cache", "DataCacheCleanAndInvalid is missing", false);
  launcher([](void* const* a) {
    TPipe pipe;
    Vecin in;
    pipe.InitBuffer(in, 1, 256);
    auto t = in.AllocTensor<float>();
    auto g = global(a[0]);
    g.SetValue(3, 1.0f);
    DataCacheCleanAndInvalid<float, CacheLine::ENTIRE_DATA_CACHE>(g);
    DataCopy(t, g, 64);
    in.FreeTensor(t);
  })
      .arg(y, "y")
      .clean();
}

TEST(Diagnostics, CubeInstructionOnAVectorCore) {
  const Outcome o = launcher([](void* const*) {
                      KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
                      LocalTensor<half> a, b;
                      LocalTensor<float> c;
                      MARK;
                      Mmad(c, a, b, MmadParams(16, 16, 16, 0, false, true));
                    }).run();
  expect_at(o, "unit", "Mmad on a vector core");
}

TEST(Diagnostics, AssertionsAndBlockCounts) {
  const Outcome o = launcher([](void* const*) {
                      MARK;
                      ascendc_assert(GetBlockNum() == 2, "%d blocks", static_cast<int>(GetBlockNum()));
                    }).run();
  expect_at(o, "assert", "GetBlockNum() == 2: 1 blocks");
  EXPECT_THAT(find(launcher([](void* const*) {}).blocks(65536).run(), "block-dim").text,
              HasSubstr("1 to 65535"));
}

// The checks are for finding faults; a kernel without them says nothing, and fast mode says nothing at all.
TEST(Diagnostics, FastModeFindsOnlyWhatLeavesMemory) {
  std::vector<float> x(100, 1.0f);
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch work;
    pipe.InitBuffer(work, 1024);
    auto t = work.Get<float>();
    DataCopy(t, global(a[0]), 99);
    Adds(t[1], t, 1.0f, 16);
  })
      .arg(x, "x")
      .fast()
      .clean();
  const Outcome o = launcher([](void* const* a) {
                      TPipe pipe;
                      Scratch work;
                      pipe.InitBuffer(work, 1024);
                      DataCopy(work.Get<float>(), global(a[0]), 256);
                    })
                        .arg(x, "x")
                        .fast()
                        .run();
  find(o, "gm-bounds", "which has 400");
}

}  // namespace
