from pmlbook.practice.composition import compose as compose, composed_level as composed_level
from pmlbook.practice.composition import JointRelease as JointRelease
from pmlbook.desk.release_log import ReleaseLog as ReleaseLog
from pmlbook.desk.disk_log import DiskLog as DiskLog
