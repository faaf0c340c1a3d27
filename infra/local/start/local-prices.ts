import type { Prices } from '../../../shared/core/prices.ts';

/** Variable with the price of a vCPU-hour on this machine, in US dollars. Without it jobs have no price. */
export const priceVariable = 'LOCAL_PRICE';

/** Variable with the seconds after which jobs on the Spot of this machine lose their host. Without it there is no Spot. */
export const spotVariable = 'LOCAL_SPOT';

/** Queue of Spot. */
export const localSpotQueue = 'train-spot';

/** Return the seconds of {@link spotVariable}. @throws Error for anything but a whole number from 1 to 86400 */
export function localSpotSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== '' && Number.isInteger(seconds) && seconds >= 1 && seconds <= 86_400) return seconds;
  throw new Error(`${spotVariable} must be whole seconds from 1 to 86400, not "${text}"`);
}

/**
 * Return the prices of jobs on this machine, where each vCPU costs the same. Jobs with GPUs have none.
 * @throws Error for a price that is no number from 0 to 1000
 */
export function localPrices(text: string): Prices {
  const vcpu = Number(text);
  if (text.trim() === '' || !(vcpu >= 0 && vcpu <= 1000))
    throw new Error(`${priceVariable} must be US dollars for a vCPU-hour, from 0 to 1000, not "${text}"`);
  const nodes = Array.from({ length: maxVcpus }, (_, index) => ({
    vcpus: index + 1,
    memory: anyMemory,
    gpus: 0,
    price: (index + 1) * vcpu,
  }));
  return { fargate: { base: 0, vcpu, gib: 0 }, spot: { fargate: 0.33, nodes: 1 }, nodes };
}

/** Most vCPUs of a job on each node, and more MiB than any job may ask for. */
const maxVcpus = 192;
const anyMemory = 4_194_304;
