import { statfs } from 'node:fs/promises';
import { cpus } from 'node:os';
import type { SystemUse } from '../../data/experiments/system-use.ts';
import type { MetricPoint } from '../../data/metrics/metric-summary.ts';
import { type GpuState, watchGpus } from '../../host/gpu-watch.ts';
import type { ContainerUse } from '../../host/host.ts';
import { thisHost } from '../../host/this-host.ts';
import { systemPrefix } from '../../metrics/system-metric.ts';
import type { TreeListing } from '../../process/memory-watch.ts';
import type { Ride } from '../job/ride.ts';
import { RowShipper } from './row-shipper.ts';
import { shippingPace } from './shipping-pace.ts';
import { UseTotals } from './use-totals.ts';

export interface SystemSamplerOptions {
  /** Size of the job on this node. */
  size: { vcpus: number; memory: number; gpus: number };
  /** Folder on the disk that the job fills. */
  folder: string;
  /** Whether this container runs only this job, so that its control group is the job's. */
  isAlone: boolean;
  sink: { append(sequence: number, points: readonly MetricPoint[]): Promise<void> };
  /** Return the step of the first point; 0 by default. Called again after a failure. */
  firstStep?(): Promise<number>;
  /** Receives the points of each interval at its end. The sink gets them up to a minute later. */
  onSample?(points: readonly MetricPoint[]): void;
  now(): Date;
  isWatched: () => Promise<boolean>;
  /** Seconds between two points of a metric. */
  seconds?: number;
  /** Points of a metric after which only each sixth is stored; those of a day by default. */
  denseSamples?: number;
  /** Return how long the processors of the machine have been idle, and how long in all. Only their changes count. */
  processors?(): { count: number; idle: number; all: number };
}

/** Seconds between two points of a metric, as in MLflow's client. */
const usualSeconds = 10;

const samplesOfDay = (24 * 60 * 60) / usualSeconds;

/** Milliseconds of an exact count of memory in an interval. A slower one is made less often. */
const countMilliseconds = 20;

const mebibyte = 2 ** 20;
const megabyte = 1e6;

/**
 * Samples what a command and its machine use, from the listings that the watch of its memory makes anyway. Its points
 * have the names of MLflow's system metrics, with the job's own size instead of that of the machine.
 */
export class SystemSampler {
  readonly #options: SystemSamplerOptions;
  readonly #shipper: RowShipper<MetricPoint>;
  readonly #gpus: ReturnType<typeof watchGpus> | undefined;
  readonly #network = thisHost.networkBytes();
  readonly #totals = new UseTotals(this.#network);
  /** Metrics that the program logs itself. */
  readonly #yielded = new Set<string>();
  #last: { at: number; cpuSeconds: number } | undefined;
  #processors: ReturnType<typeof processorTimes>;
  #interval = emptyInterval();
  /** Intervals that have ended. */
  #intervals = 0;
  #firstStep: number | undefined;
  /** Intervals until the next exact count of memory. */
  #countIn = 0;
  #sampling: Promise<void> | undefined;

  constructor(options: SystemSamplerOptions) {
    this.#options = options;
    const { seconds = usualSeconds, size } = options;
    if (size.gpus > 0) this.#gpus = watchGpus(seconds);
    this.#processors = this.#readProcessors();
    this.#shipper = new RowShipper({
      append: (sequence, points) => options.sink.append(sequence, points),
      flushMilliseconds: shippingPace.watchedSystem,
      unwatchedMilliseconds: shippingPace.unwatchedSystem,
      isWatched: options.isWatched,
      maxRows: 5_000,
      // The log already says that metrics can no longer be stored, or the lease is lost.
      onLost: () => {},
    });
  }

  /** Leave a metric to the program, which logs it itself. */
  leave(name: string): void {
    this.#yielded.add(name);
  }

  /** Hand the points that wait to the writer of others, as {@link RowShipper.ride} does. */
  ride(): Ride<MetricPoint> | undefined {
    return this.#shipper.ride();
  }

  /** Take a listing of the command's processes. */
  take(listing: TreeListing): void {
    const group = this.#ownGroup();
    const { cpuSeconds, memoryBytes } = group ?? { ...listing, memoryBytes: listing.bytes };
    const at = performance.now();
    const last = this.#last;
    this.#last = { at, cpuSeconds };
    this.#interval.bytes = memoryBytes;
    this.#interval.rss = listing.bytes;
    this.#interval.peakGroup = Math.max(this.#interval.peakGroup, group?.memoryBytes ?? 0);
    this.#interval.peakRss = Math.max(this.#interval.peakRss, listing.peakBytes);
    if (last === undefined) return;
    const seconds = (at - last.at) / 1000;
    // A process that ended with nobody to wait for it takes its time away.
    const vcpus = Math.max(0, cpuSeconds - last.cpuSeconds) / seconds;
    this.#totals.addMoment(seconds, vcpus, memoryBytes);
    this.#interval.seconds += seconds;
    this.#interval.cpuSeconds += seconds * vcpus;
    const { seconds: wanted = usualSeconds } = this.#options;
    // A listing is a little late or early.
    if (this.#interval.seconds >= wanted - 0.5) this.#sampling ??= this.#sample(listing.pids);
  }

  #readProcessors(): ReturnType<typeof processorTimes> {
    return (this.#options.processors ?? processorTimes)();
  }

  /** Note whether the machine had no vCPU left in an interval in which the command used fewer than its size has. */
  #addContention({ seconds, cpuSeconds }: ReturnType<typeof emptyInterval>): void {
    // Other tenants of a container's host say nothing about its own share.
    if (this.#options.isAlone) return;
    const { idle, all } = this.#processors;
    this.#processors = this.#readProcessors();
    const passed = this.#processors.all - all;
    if (passed <= 0) return;
    const { vcpus } = this.#options.size;
    const isFull = (this.#processors.idle - idle) / passed < fullShare;
    const own = Math.min(vcpus, this.#processors.count);
    const used = cpuSeconds / seconds;
    this.#totals.addContention(seconds, isFull && used > idleVcpus && used < own * ownShare);
  }

  /** A group that uses more than the job may is that of a whole machine. */
  #ownGroup(): ContainerUse | undefined {
    const { isAlone, size } = this.#options;
    const group = isAlone ? thisHost.containerUse() : undefined;
    return group !== undefined && group.memoryBytes <= size.memory * mebibyte ? group : undefined;
  }

  /** Send the remaining points. Return what the command used; undefined if it was too short to tell. Never rejects. */
  async close(): Promise<SystemUse | undefined> {
    this.#gpus?.stop();
    await this.#sampling;
    const { peakRss, peakGroup, seconds, cpuSeconds } = this.#interval;
    if (seconds > 0) {
      this.#addContention(this.#interval);
      this.#totals.addInterval(cpuSeconds / seconds, Math.max(peakRss, peakGroup), thisHost.networkBytes());
    }
    await this.#shipper.close();
    return this.#totals.read();
  }

  /** End an interval: store its points. Never rejects. */
  async #sample(pids: readonly number[]): Promise<void> {
    const interval = this.#interval;
    this.#interval = emptyInterval();
    try {
      this.#addContention(interval);
      const share = interval.peakGroup > 0 ? 1 : await this.#countedShare(pids, interval.rss);
      const peak = Math.max(interval.peakRss * share, interval.peakGroup);
      const vcpus = interval.cpuSeconds / interval.seconds;
      const network = thisHost.networkBytes();
      const gpus = this.#gpus?.latest() ?? [];
      this.#totals.addInterval(vcpus, peak, network);
      this.#totals.addGpus(gpus);
      this.#firstStep ??= (await this.#options.firstStep?.()) ?? 0;
      const { size } = this.#options;
      const used = interval.peakGroup > 0 ? interval.bytes : interval.bytes * share;
      this.#store(this.#firstStep, {
        cpu_utilization_percentage: (100 * vcpus) / size.vcpus,
        system_memory_usage_megabytes: used / megabyte,
        system_memory_usage_percentage: (100 * used) / (size.memory * mebibyte),
        ...(await diskUse(this.#options.folder)),
        ...(network !== undefined &&
          this.#network !== undefined && {
            network_receive_megabytes: (network.received - this.#network.received) / megabyte,
            network_transmit_megabytes: (network.sent - this.#network.sent) / megabyte,
          }),
        ...Object.assign({}, ...gpus.map(gpuUse)),
      });
    } catch {
      // The next interval may succeed.
    } finally {
      this.#sampling = undefined;
    }
  }

  /** Return the share of the resident memory that counts when pages that processes share count once. */
  async #countedShare(pids: readonly number[], rss: number): Promise<number> {
    if (pids.length < 2 || rss === 0) return 1;
    this.#countIn -= 1;
    if (this.#countIn > 0) return 1;
    const before = performance.now();
    const bytes = await thisHost.proportionalBytes(pids);
    this.#countIn = Math.ceil((performance.now() - before) / countMilliseconds);
    return bytes === 0 ? 1 : Math.min(1, bytes / rss);
  }

  #store(firstStep: number, values: Readonly<Record<string, number>>): void {
    const interval = this.#intervals;
    this.#intervals += 1;
    const step = firstStep + interval;
    const time = this.#options.now().getTime();
    const points = Object.entries(values).flatMap(([short, value]) => {
      const name = `${systemPrefix}${short}`;
      return this.#yielded.has(name) ? [] : [{ name, value: Math.round(value * 10) / 10, step, time }];
    });
    this.#options.onSample?.(points);
    const { denseSamples = samplesOfDay } = this.#options;
    if (interval >= denseSamples && interval % 6 !== 0) return;
    for (const point of points) this.#shipper.add(point, point.name.length + 60);
  }
}

/** A machine whose processors are idle for less than this share of the time has no vCPU left. */
const fullShare = 0.05;

/** A command that uses less waits for something else: even a crowded machine would give it more. */
const idleVcpus = 0.1;

/** Share of its vCPUs from which on a command has what it may use. */
const ownShare = 0.9;

function processorTimes() {
  const all = cpus();
  const sum = (read: (times: (typeof all)[number]['times']) => number) =>
    all.reduce((total, { times }) => total + read(times), 0);
  return {
    count: all.length,
    idle: sum(({ idle }) => idle),
    all: sum(({ user, nice, sys, idle, irq }) => user + nice + sys + idle + irq),
  };
}

const emptyInterval = () => ({ seconds: 0, cpuSeconds: 0, bytes: 0, rss: 0, peakRss: 0, peakGroup: 0 });

async function diskUse(folder: string): Promise<Record<string, number>> {
  const { blocks, bfree, bavail, bsize } = await statfs(folder);
  const [used, available] = [(blocks - bfree) * bsize, bavail * bsize];
  return {
    disk_usage_percentage: (100 * used) / Math.max(1, used + available),
    disk_usage_megabytes: used / megabyte,
    disk_available_megabytes: available / megabyte,
  };
}

function gpuUse({ index, memory, memoryUsed, use, watts, maxWatts }: GpuState): Record<string, number> {
  const own = (name: string) => `gpu_${index}_${name}`;
  return {
    ...(use !== null && { [own('utilization_percentage')]: use }),
    ...(memoryUsed !== null && {
      [own('memory_usage_megabytes')]: (memoryUsed * mebibyte) / megabyte,
      ...(memory > 0 && { [own('memory_usage_percentage')]: (100 * memoryUsed) / memory }),
    }),
    ...(watts !== null && {
      [own('power_usage_watts')]: watts,
      ...(maxWatts !== null && maxWatts > 0 && { [own('power_usage_percentage')]: (100 * watts) / maxWatts }),
    }),
  };
}
