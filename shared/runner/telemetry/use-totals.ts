import type { SystemUse } from '../../data/experiments/system-use.ts';
import type { GpuState } from '../../host/gpu-watch.ts';
import type { NetworkBytes } from '../../host/host.ts';

const mebibyte = 2 ** 20;

/** Numbers of vCPUs for which the duration is predicted: those that Fargate offers. */
const offeredVcpus = [0.25, 0.5, 1, 2, 4, 8, 16] as const;

/** Sums what a command uses. */
export class UseTotals {
  #seconds = 0;
  #cpuSeconds = 0;
  #cpuPeak = 0;
  #byteSeconds = 0;
  #bytesPeak = 0;
  #told = 0;
  #contended = 0;
  readonly #secondsWith = new Map<number, number>(offeredVcpus.map((vcpus) => [vcpus, 0]));
  readonly #gpus = new Map<number, GpuTotals>();
  readonly #start: NetworkBytes | undefined;
  #network: NetworkBytes | undefined;

  constructor(network: NetworkBytes | undefined) {
    this.#start = network;
    this.#network = network;
  }

  /** Add about a second. */
  addMoment(seconds: number, vcpus: number, bytes: number): void {
    this.#seconds += seconds;
    this.#cpuSeconds += seconds * vcpus;
    this.#byteSeconds += seconds * bytes;
    for (const [offered, sum] of this.#secondsWith)
      this.#secondsWith.set(offered, sum + seconds * Math.max(1, vcpus / offered));
  }

  /** Add seconds of which it is known whether other work kept the command from its vCPUs. */
  addContention(seconds: number, isContended: boolean): void {
    this.#told += seconds;
    if (isContended) this.#contended += seconds;
  }

  /** Add an interval of ten seconds, with its mean vCPUs and its greatest memory. */
  addInterval(vcpus: number, peakBytes: number, network: NetworkBytes | undefined): void {
    this.#cpuPeak = Math.max(this.#cpuPeak, vcpus);
    this.#bytesPeak = Math.max(this.#bytesPeak, peakBytes);
    this.#network = network;
  }

  addGpus(states: readonly GpuState[]): void {
    for (const state of states) {
      const { index } = state;
      const totals = this.#gpus.get(index) ?? new GpuTotals(state);
      this.#gpus.set(index, totals);
      totals.add(state);
    }
  }

  /** Return the totals; undefined before the first interval. */
  read(): SystemUse | undefined {
    const seconds = this.#seconds;
    if (seconds === 0 || this.#bytesPeak === 0) return undefined;
    const cpu = this.#cpuSeconds / seconds;
    const memory = this.#byteSeconds / seconds;
    return {
      seconds: round(seconds),
      cpu: { mean: round(cpu), peak: round(Math.max(cpu, this.#cpuPeak)) },
      memory: {
        mean: Math.ceil(Math.min(memory, this.#bytesPeak) / mebibyte),
        peak: Math.ceil(this.#bytesPeak / mebibyte),
      },
      network:
        this.#start === undefined || this.#network === undefined
          ? null
          : {
              received: round((this.#network.received - this.#start.received) / 1e6),
              sent: round((this.#network.sent - this.#start.sent) / 1e6),
            },
      gpus: [...this.#gpus.values()].map((gpu) => gpu.read()),
      ...(this.#told > 0 && { contended: round(this.#contended / this.#told) }),
      seconds_with: Object.fromEntries(
        [...this.#secondsWith].map(([vcpus, sum]) => [String(vcpus), round(sum)]),
      ),
    };
  }
}

class GpuTotals {
  readonly #gpu: GpuState;
  readonly #use = new Mean();
  readonly #memory = new Mean();

  constructor(gpu: GpuState) {
    this.#gpu = gpu;
  }

  add({ use, memoryUsed }: GpuState): void {
    this.#use.add(use);
    this.#memory.add(memoryUsed);
  }

  read(): SystemUse['gpus'][number] {
    const { index, name, driver, memory } = this.#gpu;
    return { index, name, driver, memory, use: this.#use.read(), memory_used: this.#memory.read() };
  }
}

class Mean {
  #sum = 0;
  #count = 0;
  #peak = 0;

  add(value: number | null): void {
    if (value === null) return;
    this.#sum += value;
    this.#count += 1;
    this.#peak = Math.max(this.#peak, value);
  }

  read(): { mean: number; peak: number } {
    return { mean: this.#count === 0 ? 0 : round(this.#sum / this.#count), peak: this.#peak };
  }
}

/** Three digits after the point say all that is known. */
const round = (value: number): number => Math.round(value * 1000) / 1000;
