import type { Prices } from '../../../shared/core/prices.ts';

/** Variable with the price of a vCPU-hour on this machine, in US dollars. Without it jobs have no price. */
export const priceVariable = 'LOCAL_PRICE';

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
  return { fargate: { base: 0, vcpu, gib: 0 }, nodes };
}

/** Most vCPUs of a job on each node, and more MiB than any job may ask for. */
const maxVcpus = 192;
const anyMemory = 4_194_304;
