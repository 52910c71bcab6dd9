/** Time allowed for the browser to read the file, in milliseconds. */
const PATIENCE = 60_000;

/** A file to download. */
export interface SavedFile {
  name: string;

  /** For example `application/x-pem-file`. */
  type: string;

  content: BlobPart;
}

/** Downloads a file in the browser. */
export function saveFile({ name, type, content }: SavedFile): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  document.body.append(link); // Firefox ignores links outside the document
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), PATIENCE);
}
