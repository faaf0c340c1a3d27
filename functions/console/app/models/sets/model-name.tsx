import { TextField } from '../../ui/controls/text-field.tsx';

/** Derive a model name from a file name. */
export const modelNameOf = (file: string): string =>
  (file.split('/').at(-1) ?? file)
    .replace(/\.onnx$/i, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 128);

export const ModelNameField = ({ name, onName }: { name: string; onName: (name: string) => void }) => (
  <TextField
    label="Name of the model"
    hint="Letters, digits, dots, hyphens and underscores."
    value={name}
    onText={onName}
  />
);
