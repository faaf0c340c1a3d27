import type { ConfigScalar } from '../../config/config-value.ts';
import { protobufFields } from './protobuf-fields.ts';

/**
 * Return the hyperparameters of a session, as `SummaryWriter.add_hparams` and Keras's callback write them: the content
 * of TensorBoard's plugin `hparams` (`HParamsPluginData`). Empty for its other messages.
 */
export function readHparams(content: Uint8Array): [name: string, value: ConfigScalar][] {
  const found: [string, ConfigScalar][] = [];
  for (const data of protobufFields(content)) {
    if (data.number !== sessionStart) continue;
    for (const entry of protobufFields(data.bytes)) {
      if (entry.number !== 1) continue;
      let name = '';
      let value: ConfigScalar | undefined;
      for (const { number, bytes } of protobufFields(entry.bytes)) {
        if (number === 1) name = text.decode(bytes);
        else if (number === 2) value = scalarOf(bytes);
      }
      if (value !== undefined) found.push([name, value]);
    }
  }
  return found;
}

/** Field `session_start_info`. */
const sessionStart = 3;

const text = new TextDecoder();

/** Return a `google.protobuf.Value`; undefined for lists and structures. */
function scalarOf(message: Uint8Array): ConfigScalar | undefined {
  for (const { number, integer, bytes } of protobufFields(message)) {
    if (number === 1) return null;
    if (number === 2 && bytes.length === 8)
      return new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0, true);
    if (number === 3) return text.decode(bytes);
    if (number === 4) return integer === 1n;
  }
  return undefined;
}
