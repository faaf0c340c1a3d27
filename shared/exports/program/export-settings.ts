/** Tasks that the exporter knows, by their names on the Hub. */
export const exportTasks = [
  'feature-extraction',
  'text-classification',
  'token-classification',
  'fill-mask',
  'image-classification',
] as const;

/** Folder beside the exporter in which it finds artifacts of an experiment. */
export const exportedFolder = 'model';

/** File name of an export's settings. */
export const settingsName = 'export.json';

/** Command of every export. */
export const exportCommand = 'python start.py {config} {output_dir}';

/** What `start.py` reads. It resolves a revision that is no commit, and finds the texts below DATA_DIR. */
export interface ExportSettings {
  source:
    | {
        hf: string;
        revision: string | null;
        /** Address of the operator's Hub. `HF_ENDPOINT` of the project comes before it. */
        hub: string;
      }
    | { folder: typeof exportedFolder };
  task: (typeof exportTasks)[number] | null;
  /** Name of a data set: a file with one text a line. */
  texts: string | null;
  trust_remote_code: boolean;
}

/** Files that an export leaves, besides the tokenizer and its settings. */
export const exportedFiles = {
  model: 'model.onnx',
  calibration: 'calibration.npz',
  evaluation: 'evaluation.npz',
  report: 'export.json',
} as const;
