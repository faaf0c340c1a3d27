import type { Model } from '../model/model.ts';
import { ModelFault } from '../model-fault.ts';

/** Operator sets since which there is what a method writes: DynamicQuantizeLinear, QuantizeLinear. */
const least = {
  dynamic: { opset: 11, said: 'dynamic needs' },
  static: { opset: 10, said: 'static methods need' },
} as const;

/**
 * Refuses a model whose operator set is too old for a method; it is never raised.
 *
 * @throws ModelFault naming the one that is needed
 */
export function requireOpset(model: Pick<Model, 'opset'>, method: keyof typeof least): void {
  const { opset, said } = least[method];
  const own = model.opset();
  if (own >= opset) return;
  throw new ModelFault(
    `${said} opset ${opset} or higher; the model has ${own}. Export it anew, or use weight_only.`,
  );
}
