export const announcementTypes = ['normal', 'urgent', 'info'] as const;
type AnnouncementType = (typeof announcementTypes)[number];

/** `visible`: it has started, has not ended and is not withdrawn. */
export const announcementStates = ['visible', 'scheduled', 'ended', 'withdrawn'] as const;
export type AnnouncementState = (typeof announcementStates)[number];

export type AnnouncementText = {
  title: string;
  content: string;
  type: AnnouncementType;
  /** null: at once. */
  starts_at: Date | null;
  /** null: until it is withdrawn. */
  ends_at: Date | null;
};

export type Announcement = AnnouncementText & {
  id: number;
  state: AnnouncementState;
  created_at: Date;
  updated_at: Date;
  withdrawn_at: Date | null;
};
