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
  link.click();
  // The download has its own hold on the content by the next turn.
  setTimeout(() => URL.revokeObjectURL(url));
}
