import type { ObjectWriter } from '../../aws/objects.ts';
import type { Strategy } from '../../data/models/strategy.ts';
import type { Optimization, Optimized } from '../../onnx/engine/optimize/optimization.ts';
import type { HeldJob } from '../job/hold-job.ts';
import type { StrategyContainer } from './strategy-container.ts';

/** The engine that does the work. */
export type Optimize = (optimization: Optimization) => Promise<Optimized>;

/** A strategy whose lease this container holds. */
export interface StrategyJob extends HeldJob<Strategy> {
  container: StrategyContainer;
  objects: ObjectWriter;
  optimize: Optimize;
  newId(): string;
}
