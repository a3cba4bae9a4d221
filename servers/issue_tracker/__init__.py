"""An issue tracker, seen by one member of the team: projects with their workflows, issues, sprints, work logs."""
