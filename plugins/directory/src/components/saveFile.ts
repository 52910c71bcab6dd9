/** How long a browser may take to fetch what it is to save, in milliseconds. */
const PATIENCE = 60_000;

/** A file for the reader to keep. */
export interface SavedFile {
  name: string;

  /** For example `application/x-pem-file`. */
  type: string;

  content: BlobPart;
}

/** Hands a file to the browser's downloads; nothing of it goes anywhere else. */
export function saveFile({ name, type, content }: SavedFile): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  document.body.append(link); // Firefox follows no link outside the document
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), PATIENCE);
}
