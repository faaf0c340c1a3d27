import type { Prices } from '../core/prices.ts';

type Node = Prices['nodes'][number];

/** What a job asks of each of its nodes. */
export interface NodeDemand {
  vcpus: number;
  gpus: number;
  /** MiB; any memory will do where it is not given. */
  memory?: number | undefined;
}

/** Of a node's memory, what its kernel, its agent and its registration keep: AWS advises 5 percent. */
const systemShare = 0.06;

/** MiB of a node that a job can have. */
export const usableMemory = ({ memory }: Pick<Node, 'memory'>): number =>
  Math.floor(memory * (1 - systemShare));

/** The cheapest node that is large enough; undefined where none is. */
export function smallestNode(nodes: readonly Node[], job: NodeDemand): Node | undefined {
  const { vcpus, gpus, memory = 0 } = job;
  const large = nodes.filter(
    (node) => node.vcpus >= vcpus && node.gpus >= gpus && usableMemory(node) >= memory,
  );
  return large.toSorted((one, other) => one.price - other.price)[0];
}
