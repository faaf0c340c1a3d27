import { href } from '../../ui/router.ts';

/** Return the address that opens a compression's receipt. */
export const receiptOf = ({ model_name, strategy_id }: { model_name: string; strategy_id: string }): string =>
  href(['models', model_name], { strategy: strategy_id });
