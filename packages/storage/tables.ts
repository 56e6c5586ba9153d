export const storageTables: readonly string[] = ['storage.files', 'storage.reference_names'];
