// Which write of a transaction failed is asked by its label, and by nothing else.
import { ConditionFailedError, WriteLabel } from '../../shared/data/table/write-label.ts';

const label = new WriteLabel('limit');
const error = new ConditionFailedError([label]);

export const isLimit = error.isOnly(label) && label.failedIn(error);

// @ts-expect-error a position is no label
error.isOnly(0);
// @ts-expect-error neither is a name
error.isOnly('limit');
// @ts-expect-error what failed is not known by positions
error.failed.includes(0);
