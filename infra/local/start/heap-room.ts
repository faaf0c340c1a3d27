import { setFlagsFromString } from 'node:v8';

/**
 * Let the heap grow while the service is busy, and keep it small otherwise. Call `note` at each request. The heap may
 * grow from the request on before which the process took half a second of CPU time within ten seconds. It shrinks
 * after ten seconds with less.
 */
export class HeapRoom {
  readonly #setFlag: SetFlag;
  readonly #cpuMilliseconds: CpuClock;
  #spentBefore = 0;
  #looking: NodeJS.Timeout | undefined;
  #hasRoom = false;

  /**
   * @param setFlag sets a V8 flag of the process; tests replace it
   * @param cpuMilliseconds CPU time of the process; tests replace it
   */
  constructor(setFlag: SetFlag = setFlagsFromString, cpuMilliseconds: CpuClock = ownCpuMilliseconds) {
    this.#setFlag = setFlag;
    this.#cpuMilliseconds = cpuMilliseconds;
  }

  note(): void {
    if (this.#looking === undefined) {
      this.#spentBefore = this.#cpuMilliseconds();
      // The timer must not keep the process running.
      this.#looking = setInterval(() => this.#look(), lookMilliseconds).unref();
    }
    if (!this.#hasRoom && this.#isBusy()) this.#give();
  }

  #isBusy(): boolean {
    return this.#cpuMilliseconds() - this.#spentBefore >= busyMilliseconds;
  }

  #look(): void {
    const isBusy = this.#isBusy();
    this.#spentBefore = this.#cpuMilliseconds();
    if (isBusy) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
    if (!this.#hasRoom) return;
    this.#hasRoom = false;
    for (const flag of savers) this.#setFlag(`--${flag}`);
  }

  #give(): void {
    this.#hasRoom = true;
    for (const flag of savers) this.#setFlag(`--no-${flag}`);
  }
}

type SetFlag = (flag: string) => void;
type CpuClock = () => number;

function ownCpuMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const lookMilliseconds = 10_000;

/**
 * CPU time per interval that counts as busy, in milliseconds. A person who looks at the console or a training that logs
 * its epochs takes less. The second page of 10,000 experiments is above it, and so are some 150 small requests: their
 * number alone says little, because one may read 1,000 experiments.
 */
const busyMilliseconds = 500;

/**
 * V8 flags that `npm start` sets. They keep the heap small but take a third of a busy service's time. Without them
 * the young generation grows up to `--max-semi-space-size`; V8 shrinks it again when the service is idle.
 */
const savers = ['memory-saver-mode', 'optimize-for-size'];
